import { ByteWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer';
import { DomainError } from '../../engine/errors.js';
import { parseTimestampText } from '../../engine/timestamp.js';
import type { FieldType } from '../../engine/traces/model/list/fields.js';
import type { ExportedColumn } from './exported-rows.js';

type SchemaElement = ParquetWriter['schema'][number];
type Row = Readonly<Record<string, unknown>>;

/** The end of a file describes each group of rows, and is held in memory until then: some 4 GB of rows have as many. */
const MAX_GROUPS = 8000;

/** Types of Parquet, by the types of fields; of all others, texts, and JSON of what is no text. */
const TYPES: Partial<Record<FieldType, Pick<SchemaElement, 'type' | 'logical_type'>>> = {
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
  number: { type: 'DOUBLE' },
  money: { type: 'DOUBLE' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
};
const TEXT: Pick<SchemaElement, 'type' | 'converted_type'> = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };

/** A Parquet file that is made group by group: each call returns the bytes that follow. */
export class ParquetFile {
  readonly #columns: readonly ExportedColumn[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #groups = 0;

  constructor(columns: readonly ExportedColumn[]) {
    this.#columns = columns;
    const schema: SchemaElement[] = [
      { name: 'root', num_children: columns.length },
      ...this.#columns.map(([name, type]) => ({
        name,
        repetition_type: 'OPTIONAL' as const,
        ...(TYPES[type] ?? TEXT),
      })),
    ];
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema,
      createdBy: 'spanhouse',
      // Those of texts would keep whole texts in memory.
      statistics: false,
    });
  }

  /** @throws DomainError `too_large` */
  group(rows: readonly Row[]): Buffer {
    this.#groups += 1;
    if (this.#groups > MAX_GROUPS)
      throw new DomainError('too_large', 'The export is too large for one Parquet file: narrow the time range');
    const columnData = this.#columns.map(([name, type]): ColumnSource => ({
      name,
      data: rows.map((row) => valueOf(row[name], type)),
      offsetIndex: false,
    }));
    void this.#writer.write({ columnData, rowGroupSize: rows.length });
    this.#writer.pendingIndexes.length = 0;
    return this.#take();
  }

  end(): Buffer {
    void this.#writer.finish();
    return this.#take();
  }

  /** What was written since the last call. The writer counts on in its offset. */
  #take(): Buffer {
    const bytes = Buffer.from(this.#bytes.getBytes());
    this.#bytes.index = 0;
    return bytes;
  }
}

function valueOf(value: unknown, type: FieldType): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'time':
      return BigInt(parseTimestampText(value as string) ?? 0);
    case 'integer':
      return BigInt(value as number);
    case 'number':
    case 'money':
    case 'boolean':
      return value;
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}
