import { MAX_PAGE_RECORDS, PARTS, type Part } from '../../src/features/transfer/parts.js';
import type { startProgress } from '../progress.js';
import { readFigures, type AllFigures } from './figures.js';
import type { End } from './format.js';
import { isSame, POSTED, withPage, type PostedDigest } from './posted-digest.js';
import type { Remote } from './remote.js';
import { ExportWriter } from './writer.js';

interface Page {
  readonly as_of: string;
  readonly records: readonly unknown[];
  readonly next: string | null;
  readonly more: boolean;
}

/** What is written meanwhile is read, too: so often, until nothing was written. */
const ROUNDS = 5;
/** Parts that may have millions of records: a request has to be worth its while. */
const LARGE: ReadonlySet<Part> = new Set(['spans', 'traces', 'sessions', 'scores']);
/** What is read again, with what comes behind it, after something was written. */
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
  const { retention_days } = await remote.details(id);
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
 * @returns what the lists say, null when they say it of something else by now; undefined: it is to be read again
 */
async function exportRound(
  remote: Remote,
  project: string,
  writer: ExportWriter,
  onSpans: (done: number) => void,
): Promise<AllFigures | null | undefined> {
  const read = (part: Part, after: string | null, asOf = writer.state.asOf) =>
    readPage(remote, project, { part, after, asOf });
  let from = writer.state.after;
  let coming: Promise<Page> = read(writer.state.part, from);
  for (let part: Part | undefined = writer.state.part; part !== undefined;) {
    const page: Page = await coming;
    const next: Part | undefined = page.more ? part : PARTS[PARTS.indexOf(part) + 1];
    const after = page.next ?? writer.state.after;
    const nextAfter = page.more ? after : null;
    // The next page is read while this one is written.
    if (next !== undefined) (coming = read(next, nextAfter, page.as_of)).catch(() => undefined);
    await writer.append(part, page.records, {
      asOf: page.as_of,
      posted: withPage(writer.state.posted ?? {}, part, from, page.records),
      ...(part === 'spans' ? { spansAfter: after } : {}),
      // Behind the last part there is only the end: what may come there meanwhile is looked for once more.
      ...(next === undefined ? { after } : { part: next, after: nextAfter }),
    });
    onSpans(writer.state.counts.spans ?? 0);
    from = nextAfter;
    part = next;
  }
  const figures = await readFigures(remote);
  const { spansAfter, round, posted = {} } = writer.state;
  const later = await read('spans', spansAfter);
  if (later.records.length === 0 && isSame(posted, await postedNow(read))) return figures;
  if (round + 1 === ROUNDS) return null;
  await writer.append(AGAIN, [], { part: AGAIN, after: spansAfter, round: round + 1 });
  return undefined;
}

/** Checksums of what is posted by now. */
async function postedNow(read: (part: Part, after: string | null) => Promise<Page>): Promise<PostedDigest> {
  let digest: PostedDigest = {};
  for (const part of POSTED)
    for (let after: string | null = null, more = true; more;) {
      const page = await read(part, after);
      digest = withPage(digest, part, after, page.records);
      [after, more] = [page.next, page.more];
    }
  return digest;
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
