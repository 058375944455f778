import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { csvLines } from '../../engine/files/csv.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { ExportFormat } from '../../engine/traces/model/list/export.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { OpenCount } from '../../engine/work/open-count.js';
import type { ExportedRows } from './exported-rows.js';
import { ParquetFile } from './parquet-file.js';

export const EXPORTS_PER_PROJECT = 2;
/** Pages that are read at once. */
const READS = { atOnce: 3, perParty: 1 };
/** In characters: a Parquet file takes some 50 ms for them. */
const ENCODED_AT_ONCE = 512 * 1024;

interface Wanted {
  /** The caller. */
  readonly by: Principal;
  /** Name of the list. */
  readonly list: string;
  readonly rows: ExportedRows;
  readonly format: ExportFormat;
  /** Whether who asked may still read. */
  readonly isAdmitted: () => boolean;
}

type Pages = AsyncIterable<readonly string[]>;
type Row = Readonly<Record<string, unknown>>;

/** Everything that a list finds, as a file that is read while it is sent. */
export class Exports {
  readonly #turns = new FairSemaphore('pages of exports', READS);
  readonly #underWay = new OpenCount({ perParty: EXPORTS_PER_PROJECT });
  readonly #audit: AuditLog;

  constructor(audit: AuditLog) {
    this.#audit = audit;
  }

  /**
   * Resolves once the first page is there.
   * @throws DomainError `overloaded` where the project has too many in progress; `unavailable`
   */
  async open(wanted: Wanted, signal: AbortSignal): Promise<Readable> {
    const { by, list: part, format } = wanted;
    const end = this.#begin(by.project_id);
    try {
      const pages = this.#pages(wanted, signal);
      const first = await pages.next();
      this.#audit.done({ event: 'exported', by, project_id: by.project_id, part, format });
      const file = Readable.from(fileOf(wanted.rows, format, following(first, pages)), { objectMode: false });
      return file.once('close', end);
    } catch (error) {
      end();
      throw error;
    }
  }

  #begin(projectId: string): () => void {
    const end = this.#underWay.open(projectId);
    if (end === undefined)
      throw new DomainError('overloaded', `A project can have at most ${EXPORTS_PER_PROJECT} exports at once`, {
        retryAfterSeconds: 5,
      });
    return end;
  }

  /** Pages by turns with other projects' exports, for as long as who asked may read. */
  async *#pages(wanted: Wanted, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const pages = wanted.rows.pages(signal);
    for (;;) {
      if (!wanted.isAdmitted()) throw new DomainError('unauthenticated', 'The API key was revoked');
      const end = await this.#turns.take(wanted.by.project_id, signal);
      const page = await pages.next().finally(end);
      if (page.done === true) return;
      yield page.value;
    }
  }
}

/** Rows of some half a megabyte at a time: others have a turn before more are encoded. */
async function* portions(pages: Pages): AsyncGenerator<readonly string[]> {
  for await (const rows of pages) {
    let from = 0;
    let size = 0;
    for (const [index, row] of rows.entries()) {
      size += row.length;
      if (size < ENCODED_AT_ONCE && index < rows.length - 1) continue;
      yield rows.slice(from, index + 1);
      await nextTurn();
      from = index + 1;
      size = 0;
    }
  }
}

async function* following<T>(first: IteratorResult<T, unknown>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** Pages of rows as the bytes of a file. */
export function fileOf(
  { columns }: Pick<ExportedRows, 'columns'>,
  format: ExportFormat,
  pages: Pages,
): AsyncIterable<string | Buffer> {
  const rows = portions(pages);
  if (format === 'jsonl') return jsonLines(rows);
  return format === 'csv'
    ? csv(
        columns.map(([name]) => name),
        rows,
      )
    : parquet(new ParquetFile(columns), rows);
}

async function* jsonLines(pages: Pages): AsyncGenerator<string> {
  for await (const rows of pages) yield `${rows.join('\n')}\n`;
}

async function* csv(names: readonly string[], pages: Pages): AsyncGenerator<string> {
  yield csvLines([names]);
  for await (const rows of pages)
    yield csvLines(
      rows.map((row) => {
        const values = JSON.parse(row) as Row;
        return names.map((name) => values[name]);
      }),
    );
}

async function* parquet(file: ParquetFile, pages: Pages): AsyncGenerator<Buffer> {
  for await (const rows of pages) yield file.group(rows.map((row) => JSON.parse(row) as Row));
  yield file.end();
}
