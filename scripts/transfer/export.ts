import { MAX_PAGE_RECORDS, PARTS, type Part } from '../../src/domain/transfer/parts.js';
import type { startProgress } from '../progress.js';
import { readFigures, type AllFigures } from './figures.js';
import type { End } from './format.js';
import type { Remote } from './remote.js';
import { ExportWriter } from './writer.js';

interface Page {
  readonly as_of: string;
  readonly records: readonly unknown[];
  readonly next: string | null;
  readonly more: boolean;
}

/** Spans that are written meanwhile are read, too: so often, until none was written. */
const ROUNDS = 5;
/** Parts that may have millions of records: a request has to be worth its while. */
const LARGE: ReadonlySet<Part> = new Set(['spans', 'traces', 'sessions']);
/** What is read again after spans were written. */
const AGAIN: Part = 'spans';

/**
 * Writes a project to a file, or goes on with that.
 * @throws TransferError
 */
export async function exportProject(
  remote: Remote,
  project: string | undefined,
  file: string,
  start: typeof startProgress,
): Promise<End> {
  const { id, name, version } = await remote.project(project);
  const retention_days = await remote.retentionDays(id);
  const header = { project_id: id, project_name: name, retention_days, version, exported_at: new Date().toISOString() };
  const { spans } = await readFigures(remote);
  const writer = await ExportWriter.open(file, header, PARTS[0]);
  const progress = start('Export', spans['count'] ?? 0, 'spans');
  try {
    for (;;) {
      const figures = await exportRound(remote, id, writer, (done) => progress.update(done));
      if (figures !== undefined) return await writer.end(figures);
    }
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  } finally {
    progress.stop();
  }
}

/**
 * Reads the parts that are left.
 * @returns what the lists say, null when they say it of other spans by now; undefined: spans are to be read again
 */
async function exportRound(
  remote: Remote,
  project: string,
  writer: ExportWriter,
  onSpans: (done: number) => void,
): Promise<AllFigures | null | undefined> {
  const read = (part: Part, after: string | null, asOf = writer.state.asOf) =>
    readPage(remote, project, { part, after, asOf });
  let coming: Promise<Page> = read(writer.state.part, writer.state.after);
  for (let part: Part | undefined = writer.state.part; part !== undefined;) {
    const page: Page = await coming;
    const next: Part | undefined = page.more ? part : PARTS[PARTS.indexOf(part) + 1];
    const after = page.next ?? writer.state.after;
    const nextAfter = page.more ? after : null;
    // The next page is read while this one is written.
    if (next !== undefined) (coming = read(next, nextAfter, page.as_of)).catch(() => undefined);
    await writer.append(part, page.records, {
      asOf: page.as_of,
      ...(part === 'spans' ? { spansAfter: after } : {}),
      // Behind the last part there is only the end: what may come there meanwhile is looked for once more.
      ...(next === undefined ? { after } : { part: next, after: nextAfter }),
    });
    onSpans(writer.state.counts.spans ?? 0);
    part = next;
  }
  const figures = await readFigures(remote);
  const { spansAfter, round } = writer.state;
  const later = await read('spans', spansAfter);
  if (later.records.length === 0) return figures;
  if (round + 1 === ROUNDS) return null;
  await writer.append(AGAIN, [], { part: AGAIN, after: spansAfter, round: round + 1 });
  return undefined;
}

function readPage(
  remote: Remote,
  project: string,
  { part, after, asOf }: { readonly part: Part; readonly after: string | null; readonly asOf: string | null },
): Promise<Page> {
  const query = new URLSearchParams(LARGE.has(part) ? { limit: String(MAX_PAGE_RECORDS) } : {});
  if (after !== null) query.set('after', after);
  if (asOf !== null) query.set('as_of', asOf);
  return remote.get<Page>(`/projects/${project}/export/${part}?${query.toString()}`);
}
