import { MAX_RECORDS } from '../../src/features/transfer/parts.js';
import type { startProgress } from '../progress.js';
import { compare, readFigures, type Comparison } from './figures.js';
import { total, type Header } from './format.js';
import { ImportNotes, type PartImported } from './import-notes.js';
import { readExport, verify, type NumberedRecord, type Verified } from './reader.js';
import { RefusedError, type Remote } from './remote.js';
import { RequestsInOrder } from './requests-in-order.js';

export interface ImportResult {
  readonly project: string;
  readonly parts: readonly PartImported[];
  /** For how many days traces are kept there and here; null: for ever. It is said alone: set, it might remove what came in. */
  readonly retention: { readonly inFile: number | null; readonly inProject: number | null };
  /** Null: the file says nothing of them. */
  readonly figures: readonly Comparison[] | null;
}

const CONFLICT = 409;
const TOO_LARGE = 413;
const INVALID = 422;
/** A request ends with the record that makes it so large, in characters. */
const REQUEST_SIZE = 4 * 1024 * 1024;

/**
 * Sends the records of a file to a project; those that are there already stay as they are, so that it can be cut off and
 * begun again at any time.
 * @throws TransferError
 */
export async function importProject(
  remote: Remote,
  named: string | undefined,
  file: string,
  start: typeof startProgress,
): Promise<ImportResult> {
  const { header, end, replaced } = await verify(file);
  const { id: project } = await remote.project(named);
  const { retention_days, created_at } = await remote.details(project);
  const target = { url: remote.url, project_created_at: created_at };
  const notes = await ImportNotes.open(`${file}.import-${project}`, end, target);
  const progress = start('Import', total(end.counts) - replaced.size, 'records');
  const send = (batch: readonly NumberedRecord[]) => sendAll(remote, project, batch);
  const onSent = () => progress.update(notes.sent);
  try {
    const rest = { file, replaced, notes, send, onSent };
    if (!(await sendRest(rest))) await sendRest(rest);
  } finally {
    progress.stop();
  }
  const figures = end.figures === null ? null : compare(end.figures, await readFigures(remote));
  const retention = { inFile: keptDays(header), inProject: retention_days };
  await notes.remove();
  return { project, parts: notes.parts(), retention, figures };
}

interface Rest extends Pick<Verified, 'replaced'> {
  readonly file: string;
  readonly notes: ImportNotes;
  /** @returns how many records were stored */
  readonly send: (batch: readonly NumberedRecord[]) => Promise<number>;
  readonly onSent: () => void;
}

/**
 * Sends what is not sent yet. One of the last requests is sent once more, as it shows whether all of that is still there: a
 * project may have been restored from a backup since.
 * @returns false when it is not: then all of it is to be sent
 */
async function sendRest({ file, replaced, notes, send, onSent }: Rest): Promise<boolean> {
  const requests = new RequestsInOrder(send, async (batch, stored) => {
    await notes.add(batch, stored);
    onSent();
  });
  const { sent, probe } = notes;
  let at = probe;
  for await (const batch of batches(file, { sent: probe, replaced })) {
    const from = at;
    at += batch.length;
    if (from >= sent) {
      await requests.add(batch);
      continue;
    }
    // One that ends elsewhere was not sent so.
    const isAsSent = at <= sent;
    const stored = isAsSent && from === probe ? await storedAgain(send, batch) : 0;
    if (isAsSent && stored === 0) continue;
    notes.beginAnew(batch, stored ?? 0);
    return false;
  }
  await requests.ended();
  return true;
}

/** How many records of a batch that was stored were so no more; null: it names what is gone. */
async function storedAgain(send: Rest['send'], batch: readonly NumberedRecord[]): Promise<number | null> {
  try {
    return await send(batch);
  } catch (error) {
    if (error instanceof RefusedError && [CONFLICT, INVALID].includes(error.problem.status ?? 0)) return null;
    throw error;
  }
}

/** Files of earlier versions say nothing of it. */
function keptDays({ retention_days: days }: Header): number | null {
  return Number.isSafeInteger(days) ? Number(days) : null;
}

/** Records of one part that go into one request, behind those that were sent. */
async function* batches(
  file: string,
  { sent, replaced }: Pick<Verified, 'replaced'> & { readonly sent: number },
): AsyncGenerator<NumberedRecord[]> {
  let batch: NumberedRecord[] = [];
  let size = 0;
  let index = 0;
  for await (const record of readExport(file)) {
    if (replaced.has(record.line) || (index += 1) <= sent) continue;
    const isFull = batch.length === MAX_RECORDS || size + record.json.length > REQUEST_SIZE;
    if (batch.length > 0 && (isFull || batch[0]?.part !== record.part)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(record);
    size += record.json.length;
  }
  if (batch.length > 0) yield batch;
}

/** Sends a batch, in more requests where the server takes no such large ones. @returns how many were not there before */
async function sendAll(remote: Remote, project: string, batch: readonly NumberedRecord[]): Promise<number> {
  const [first] = batch;
  if (first === undefined) return 0;
  const pieces = batch.flatMap(({ json }, index) => [index === 0 ? BEGIN : COMMA, json]);
  try {
    const path = `/projects/${project}/import/${first.part}`;
    return (await remote.post<{ stored: number }>(path, Buffer.concat([...pieces, END]))).stored;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.problem.status !== TOO_LARGE) throw withLine(error, batch);
    if (batch.length === 1) throw tooLarge(error, first);
    const half = Math.ceil(batch.length / 2);
    return (await sendAll(remote, project, batch.slice(0, half))) + (await sendAll(remote, project, batch.slice(half)));
  }
}

const [BEGIN, COMMA, END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

function tooLarge({ problem }: RefusedError, { line, part }: NumberedRecord): RefusedError {
  return new RefusedError(
    `line ${line} (${part}) is larger than the server accepts: ${problem.detail ?? 'too large'}. The lines before it are imported. If it is too large in bytes, raise MAX_BODY_MB of that server; the import then resumes there.`,
    problem,
  );
}

/** The refusal, with the line of the file that it is about. */
function withLine(error: RefusedError, batch: readonly NumberedRecord[]): RefusedError {
  const [issue] = error.problem.errors ?? [];
  const [, index, field = ''] = /^\/(\d+)(.*)$/.exec(issue?.pointer ?? '') ?? [];
  const line = index === undefined ? undefined : batch[Number(index)]?.line;
  if (line === undefined || issue === undefined) return error;
  const what = `line ${line} (${batch[0]?.part ?? ''}${field}) ${issue.detail}. What came before it is imported`;
  // What is in the way is not the file's.
  if (error.problem.status === CONFLICT) return new RefusedError(`${what}.`, error.problem);
  return new RefusedError(`${what}; after it is mended, the import goes on there.`, error.problem);
}
