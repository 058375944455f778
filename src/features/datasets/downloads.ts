import { DomainError } from '../../engine/errors.js';
import { csvLines } from '../../engine/files/csv.js';
import { withTurns } from '../../engine/work/portions.js';
import type { DatasetRow, DatasetVersion } from './dataset.js';
import type { DatasetService } from './dataset-service.js';

export const MEDIA_TYPES = {
  jsonl: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;
type DownloadFormat = keyof typeof MEDIA_TYPES;
export const DOWNLOAD_FORMATS = Object.keys(MEDIA_TYPES) as DownloadFormat[];

/** Most bytes of rows that become a Parquet file, which is made in memory. */
const MAX_PARQUET_BYTES = 64 * 1024 * 1024;

/** Makes a Parquet file, elsewhere than in the thread that serves requests. @throws DomainError */
export type WriteParquet = (projectId: string, table: ParquetTable) => Promise<Uint8Array>;

/** Rows as JSON lines, and the columns that they are to have. */
export interface ParquetTable {
  readonly columns: readonly string[];
  readonly lines: Uint8Array;
}

const ROW_ID = 'row_id';

/** The JSON of a row: values by column, with the id as `row_id`. */
export function flatRow({ row_id, content }: Pick<DatasetRow, 'row_id' | 'content'>): string {
  const id = `{"${ROW_ID}":${JSON.stringify(row_id)}`;
  return content === '{}' ? `${id}}` : `${id},${content.slice(1)}`;
}

/** Versions of datasets as files. */
export class DatasetDownloads {
  readonly #datasets: Pick<DatasetService, 'allRows'>;
  readonly #writeParquet: WriteParquet;

  constructor(datasets: Pick<DatasetService, 'allRows'>, writeParquet: WriteParquet) {
    this.#datasets = datasets;
    this.#writeParquet = writeParquet;
  }

  /** The pieces of a file of text. */
  *text(projectId: string, version: DatasetVersion, format: Exclude<DownloadFormat, 'parquet'>): Iterable<string> {
    const rows = this.#datasets.allRows(projectId, version);
    if (format === 'csv') {
      yield* csv(version.columns, rows);
      return;
    }
    const [open, between, close] = format === 'json' ? ['[\n', ',\n', '\n]\n'] : ['', '\n', '\n'];
    let next = open;
    for (const row of rows) {
      yield next + flatRow(row);
      next = between;
    }
    if (next === between) yield close;
    else if (format === 'json') yield '[]\n';
  }

  /** @throws DomainError `too_large` */
  async parquet(projectId: string, version: DatasetVersion): Promise<Buffer> {
    const lines: string[] = [];
    let bytes = 0;
    for await (const row of withTurns(this.#datasets.allRows(projectId, version))) {
      const line = flatRow(row);
      bytes += line.length;
      if (bytes > MAX_PARQUET_BYTES)
        throw new DomainError(
          'too_large',
          `A Parquet file is made of at most ${MAX_PARQUET_BYTES} bytes of rows: download JSON lines`,
        );
      lines.push(line);
    }
    const table = { columns: [ROW_ID, ...version.columns], lines: Buffer.from(lines.join('\n')) };
    return Buffer.from(await this.#writeParquet(projectId, table));
  }
}

function* csv(columns: readonly string[], rows: Iterable<DatasetRow>): Iterable<string> {
  yield csvLines([[ROW_ID, ...columns]]);
  for (const { row_id, content } of rows) {
    const values = JSON.parse(content) as Readonly<Record<string, unknown>>;
    yield csvLines([[row_id, ...columns.map((name) => values[name])]]);
  }
}
