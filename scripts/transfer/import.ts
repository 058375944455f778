import { readFile, rm } from 'node:fs/promises';
import { MAX_RECORDS, PARTS, type Part } from '../../src/domain/transfer/parts.js';
import type { startProgress } from '../progress.js';
import { compare, readFigures, type Comparison } from './figures.js';
import { total, type End, type Header } from './format.js';
import { readExport, verify, type NumberedRecord, type Verified } from './reader.js';
import { RefusedError, type Remote } from './remote.js';
import { RequestsInOrder } from './requests-in-order.js';
import { TransferError } from './transfer-error.js';
import { replace } from './writer.js';

/** What became of the records of a part. */
export interface PartImported {
  readonly part: Part;
  readonly inFile: number;
  readonly stored: number;
  readonly unchanged: number;
}

export interface ImportResult {
  readonly project: string;
  readonly parts: readonly PartImported[];
  /** For how many days traces are kept there and here; null: for ever. It is said alone: set, it might remove what came in. */
  readonly retention: { readonly inFile: number | null; readonly inProject: number | null };
  /** Null: the file says nothing of them. */
  readonly figures: readonly Comparison[] | null;
}

/** How far an import is: kept beside the file after every request. */
interface ImportState {
  readonly sha256: string;
  /** Records that were sent, without those that a later line replaces. */
  readonly sent: number;
  readonly stored: Readonly<Partial<Record<Part, number>>>;
}

const CONFLICT = 409;
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
  const notes = new ImportNotes(`${file}.import-${project}`, end);
  await notes.read();
  const progress = start('Import', total(end.counts) - replaced.size, 'records');
  try {
    const requests = new RequestsInOrder(
      (batch) => sendAll(remote, project, batch),
      async (batch, stored) => {
        await notes.add(batch, stored);
        progress.update(notes.sent);
      },
    );
    for await (const batch of batches(file, { sent: notes.sent, replaced })) await requests.add(batch);
    await requests.ended();
  } finally {
    progress.stop();
  }
  const figures = end.figures === null ? null : compare(end.figures, await readFigures(remote));
  const retention = { inFile: keptDays(header), inProject: await remote.retentionDays(project) };
  await notes.remove();
  return { project, parts: notes.parts(), retention, figures };
}

/** Files of earlier versions say nothing of it. */
function keptDays({ retention_days: days }: Header): number | null {
  return Number.isSafeInteger(days) ? Number(days) : null;
}

/** Records of one part that go into one request, behind those that were sent. */
async function* batches(
  file: string,
  { sent, replaced }: Pick<ImportState, 'sent'> & Pick<Verified, 'replaced'>,
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

/** @returns how many were not there before */
async function sendAll(remote: Remote, project: string, batch: readonly NumberedRecord[]): Promise<number> {
  const [first] = batch;
  if (first === undefined) return 0;
  const pieces = batch.flatMap(({ json }, index) => [index === 0 ? BEGIN : COMMA, json]);
  try {
    const path = `/projects/${project}/import/${first.part}`;
    return (await remote.post<{ stored: number }>(path, Buffer.concat([...pieces, END]))).stored;
  } catch (error) {
    throw error instanceof RefusedError ? withLine(error, batch) : error;
  }
}

const [BEGIN, COMMA, END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

/** The refusal, with the line of the file that it is about. */
function withLine(error: RefusedError, batch: readonly NumberedRecord[]): TransferError {
  const [issue] = error.problem.errors ?? [];
  const [, index, field = ''] = /^\/(\d+)(.*)$/.exec(issue?.pointer ?? '') ?? [];
  const line = index === undefined ? undefined : batch[Number(index)]?.line;
  if (line === undefined || issue === undefined) return error;
  const what = `line ${line} (${batch[0]?.part ?? ''}${field}) ${issue.detail}. What came before it is imported`;
  // What is in the way is not the file's.
  if (error.problem.status === CONFLICT) return new TransferError(`${what}.`);
  return new TransferError(`${what}; after it is mended, the import goes on there.`);
}

/** What is known of an import beside its file. It only saves time: without it, everything is sent again. */
class ImportNotes {
  readonly #file: string;
  readonly #end: End;
  #state: ImportState;
  #writable = true;

  constructor(file: string, end: End) {
    this.#file = file;
    this.#end = end;
    this.#state = { sha256: end.sha256, sent: 0, stored: {} };
  }

  get sent(): number {
    return this.#state.sent;
  }

  async read(): Promise<void> {
    try {
      const state = JSON.parse(await readFile(this.#file, 'utf8')) as ImportState;
      if (state.sha256 === this.#end.sha256 && Number.isSafeInteger(state.sent)) this.#state = state;
    } catch {
      // There is none, or none that can be read.
    }
  }

  async add(batch: readonly NumberedRecord[], stored: number): Promise<void> {
    const part = batch[0]?.part;
    if (part === undefined) return;
    const { sent, stored: before, sha256 } = this.#state;
    this.#state = { sha256, sent: sent + batch.length, stored: { ...before, [part]: (before[part] ?? 0) + stored } };
    if (!this.#writable) return;
    // The folder may be one that can only be read.
    await replace(this.#file, JSON.stringify(this.#state)).catch(() => (this.#writable = false));
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true }).catch(() => undefined);
  }

  parts(): PartImported[] {
    return PARTS.flatMap((part) => {
      const inFile = this.#end.counts[part] ?? 0;
      const stored = this.#state.stored[part] ?? 0;
      return inFile === 0 ? [] : [{ part, inFile, stored, unchanged: inFile - stored }];
    });
  }
}
