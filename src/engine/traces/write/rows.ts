import type { Writes } from '../model/write-log.js';
import { toJsonText } from '../../json-text.js';
import type { spanFields } from '../model/list/fields.js';
import type { Span } from '../model/span/span.js';
import { hasError } from '../model/span/span-read.js';
import type { PostedSession, PostedTrace } from '../model/trace/posted.js';
import { RowBinaryWriter, TooManyBytesError } from './row-binary.js';
import type { Version } from './version-clock.js';

/** Rows of one table, encoded. Each begins with its `ver`, which the commit fills in at these offsets. */
export interface EncodedRows {
  readonly table: TableName;
  readonly bytes: Buffer;
  readonly versionOffsets: readonly number[];
}

/** Tables that are appended to; `session_statements` holds posted sessions. */
export type TableName = 'spans' | 'facts' | 'session_statements';

/** A tombstone: the span, or with `rowType` 1 the posted trace, counts as never written from here on. */
export interface Tombstone {
  readonly trace_id: string;
  readonly rowType: 0 | 1;
  readonly id: string;
}

/** A tombstone of a whole trace: everything written to it before counts as never written. */
export interface RemovedTrace {
  readonly trace_id: string;
  /** The version of the trace's first write, which its `created_at` stands for. */
  readonly firstVersion: Version;
}

/**
 * A span as a row: `originVersion` when it is not what a client has just written, but what one wrote at that version;
 * `receivedVersion` when it is to look as if it was received then, since columns of it were filled in alone.
 */
export type SpanRow = Span & { readonly originVersion?: Version; readonly receivedVersion?: Version };

/** Everything that can be appended: what clients write, and tombstones of what they delete. */
export interface AppendedWrites extends Writes {
  readonly spans?: readonly SpanRow[];
  readonly tombstones?: readonly Tombstone[];
  readonly removedTraces?: readonly RemovedTrace[];
  readonly deletedSessions?: readonly string[];
}

type ColumnWriter<T> = (writer: RowBinaryWriter, row: T, projectId: string) => void;
type Column<T> = readonly [name: string, write: ColumnWriter<T>];

const text = (writer: RowBinaryWriter, value: string) => writer.string(value);
const bytes = (writer: RowBinaryWriter, value: string) => writer.uint32(Buffer.byteLength(value));
const id = (writer: RowBinaryWriter, value: string) => writer.uuid(value);
const integer = (writer: RowBinaryWriter, value: number) => writer.uint64(value);
const float = (writer: RowBinaryWriter, value: number) => writer.float64(value);
const decimal = (writer: RowBinaryWriter, value: number) => writer.decimal12(value);

/** Fields of spans that are stored in columns of other names: the time as `ver`, input and output as `payload`, `call` by its own fields. */
type RenamedField = 'created_at' | 'input_data' | 'output_data' | 'call';
/** Columns of spans that are no field of theirs. */
type SpanStorageColumn = 'ver' | 'payload' | 'input_bytes' | 'no_output' | 'origin_ver' | 'received_ver';
/** A new field of spans has to be named here, or be a column: otherwise it would be taken in and lost. */
type StoredSpanColumn = Exclude<keyof typeof spanFields | keyof Span, RenamedField> | SpanStorageColumn;

/** The writers of the columns of `spans`, in the order in which rows are encoded. */
const spanColumns = {
  ver: (w) => w.uint64(0),
  project_id: (w, _span, projectId) => w.string(projectId),
  trace_id: (w, span) => w.uuid(span.trace_id),
  id: (w, span) => w.uuid(span.id),
  parent_span_id: (w, span) => w.nullable(span.parent_span_id, id),
  session_id: (w, span) => w.nullable(span.session_id, id),
  session_name: (w, span) => w.string(span.session_name ?? ''),
  name: (w, span) => w.string(span.name),
  kind: (w, span) => w.string(span.kind),
  status: (w, span) => w.string(span.status ?? ''),
  started_at: (w, span) => w.uint64(span.started_at),
  ended_at: (w, span) => w.nullable(span.ended_at, integer),
  duration_ms: (w, span) => w.nullable(span.duration_ms, float),
  cost: (w, span) => w.nullable(span.cost, decimal),
  payload: (w, span) => w.string(span.input_data ?? '', span.output_data ?? ''),
  input_bytes: (w, span) => w.nullable(span.input_data, bytes),
  no_output: (w, span) => w.uint8(span.output_data === null ? 1 : 0),
  attributes: (w, span) => w.string(toJsonText(span.attributes)),
  tags: (w, span) => w.tags(span.tags),
  trace_tags: (w, span) => w.tags(span.trace_tags),
  session_tags: (w, span) => w.tags(span.session_tags),
  error_code: (w, span) => w.nullable(span.error_code, text),
  error_message: (w, span) => w.nullable(span.error_message, text),
  error_stack: (w, span) => w.nullable(span.error_stack, text),
  code_filepath: (w, span) => w.nullable(span.code_filepath, text),
  code_lineno: (w, span) => w.nullable(span.code_lineno, integer),
  has_error: (w, span) => w.uint8(hasError(span) ? 1 : 0),
  cost_calculated: (w, span) => w.uint8(span.cost_calculated === true ? 1 : 0),
  origin_ver: (w, span) => w.uint64(span.originVersion ?? 0),
  received_ver: (w, span) => w.uint64(span.receivedVersion ?? 0),
  provider: (w, { call }) => w.string(call?.provider ?? ''),
  model: (w, { call }) => w.string(call?.model ?? ''),
  input_tokens: (w, { call }) => w.nullable(call?.input_tokens ?? null, integer),
  output_tokens: (w, { call }) => w.nullable(call?.output_tokens ?? null, integer),
  cache_read_tokens: (w, { call }) => w.nullable(call?.cache_read_tokens ?? null, integer),
  cache_write_tokens: (w, { call }) => w.nullable(call?.cache_write_tokens ?? null, integer),
  prompt_slug: (w, { call }) => w.string(call?.prompt_slug ?? ''),
  prompt_version: (w, { call }) => w.nullable(call?.prompt_version ?? null, integer),
  prompt_version_id: (w, { call }) => w.nullable(call?.prompt_version_id ?? null, id),
} satisfies Record<StoredSpanColumn, ColumnWriter<SpanRow>>;

/** A row of `facts` that does not come from a span. */
interface Fact {
  readonly trace_id: string;
  /** 2: the tombstone of a whole trace. */
  readonly rowType: 0 | 1 | 2;
  readonly id: string;
  /** The posted trace; null: a tombstone. */
  readonly posted: PostedTrace | null;
  readonly originVersion?: Version;
}

type FactColumn =
  | Exclude<keyof PostedTrace, 'tags'>
  | 'trace_tags' // holds `tags`
  | 'ver'
  | 'project_id'
  | 'trace_id'
  | 'row_type'
  | 'deleted'
  | 'origin_ver';

const factColumns = {
  ver: (w) => w.uint64(0),
  project_id: (w, _fact, projectId) => w.string(projectId),
  trace_id: (w, fact) => w.uuid(fact.trace_id),
  row_type: (w, fact) => w.uint8(fact.rowType),
  id: (w, fact) => w.uuid(fact.id),
  deleted: (w, fact) => w.uint8(fact.posted === null ? 1 : 0),
  session_id: (w, { posted }) => w.nullable(posted?.session_id ?? null, id),
  name: (w, { posted }) => w.string(posted?.name ?? ''),
  status: (w, { posted }) => w.string(posted?.status ?? ''),
  started_at: (w, { posted }) => w.uint64(posted?.started_at ?? 0),
  ended_at: (w, { posted }) => w.nullable(posted?.ended_at ?? null, integer),
  duration_ms: (w, { posted }) => w.nullable(posted?.duration_ms ?? null, float),
  cost: (w, { posted }) => w.nullable(posted?.cost ?? null, decimal),
  trace_tags: (w, { posted }) => w.tags(posted?.tags ?? {}),
  attributes: (w, { posted }) => w.string(posted === null ? '' : toJsonText(posted.attributes)),
  origin_ver: (w, fact) => w.uint64(fact.originVersion ?? 0),
} satisfies Record<FactColumn, ColumnWriter<Fact>>;

/** A row of `session_statements`. */
interface SessionRow {
  readonly id: string;
  /** The posted session; null: a tombstone. */
  readonly posted: PostedSession | null;
}

type SessionColumn =
  | Exclude<keyof PostedSession, 'id'>
  | 'session_id' // holds `id`
  | 'ver'
  | 'project_id'
  | 'deleted';

const sessionColumns = {
  ver: (w) => w.uint64(0),
  project_id: (w, _session, projectId) => w.string(projectId),
  session_id: (w, session) => w.uuid(session.id),
  deleted: (w, { posted }) => w.uint8(posted === null ? 1 : 0),
  name: (w, { posted }) => w.string(posted?.name ?? ''),
  tags: (w, { posted }) => w.tags(posted?.tags ?? {}),
  attributes: (w, { posted }) => w.string(posted === null ? '' : toJsonText(posted.attributes)),
} satisfies Record<SessionColumn, ColumnWriter<SessionRow>>;

const columnsOf = <T>(writers: Readonly<Record<string, ColumnWriter<T>>>): readonly Column<T>[] =>
  Object.entries(writers);
const columns = {
  spans: columnsOf<SpanRow>(spanColumns),
  facts: columnsOf<Fact>(factColumns),
  session_statements: columnsOf<SessionRow>(sessionColumns),
} satisfies Record<TableName, unknown>;

/** The columns that each table's rows are encoded in. */
export const insertedColumns: Readonly<Record<TableName, readonly string[]>> = {
  spans: Object.keys(spanColumns),
  facts: Object.keys(factColumns),
  session_statements: Object.keys(sessionColumns),
};

/** Encodes writes when they arrive, so that what waits for a commit is bytes, counted to the last one. */
export class RowEncoder {
  readonly #writer = new RowBinaryWriter();

  /**
   * Encodes writes, table by table. Whatever this throws, nothing of them is left to come before the next ones.
   * @param maxBytes the most that all rows together may take
   * @throws TooManyBytesError as soon as they take more, with little more than that in memory
   */
  encode(writes: AppendedWrites, maxBytes = Number.POSITIVE_INFINITY): EncodedRows[] {
    try {
      return this.#encode(writes, maxBytes);
    } finally {
      this.#writer.reset();
    }
  }

  #encode(writes: AppendedWrites, maxBytes: number): EncodedRows[] {
    const { projectId, spans = [], traces = [], sessions = [], tombstones = [], deletedSessions = [] } = writes;
    const { removedTraces = [] } = writes;
    const facts: Fact[] = [
      ...traces.map((posted) => ({ trace_id: posted.id, rowType: 1 as const, id: posted.id, posted })),
      ...tombstones.map((tombstone) => ({ ...tombstone, posted: null })),
      ...removedTraces.map(({ trace_id, firstVersion }) => ({
        ...{ trace_id, rowType: 2 as const, id: trace_id, posted: null },
        originVersion: firstVersion,
      })),
    ];
    const sessionRows: SessionRow[] = [
      ...sessions.map((posted) => ({ id: posted.id, posted })),
      ...deletedSessions.map((session) => ({ id: session, posted: null })),
    ];
    let left = maxBytes;
    const rowsOf = <T>(table: TableName, columns: readonly Column<T>[], rows: readonly T[]) => {
      const encoded = this.#rows(table, columns, rows, projectId, left);
      left -= encoded.bytes.length;
      return encoded;
    };
    return [
      rowsOf('spans', columns.spans, spans),
      rowsOf('facts', columns.facts, facts),
      rowsOf('session_statements', columns.session_statements, sessionRows),
    ].filter(({ versionOffsets }) => versionOffsets.length > 0);
  }

  #rows<T>(
    table: TableName,
    columns: readonly Column<T>[],
    rows: readonly T[],
    projectId: string,
    maxBytes: number,
  ): EncodedRows {
    const writer = this.#writer;
    const versionOffsets: number[] = [];
    writer.reset(maxBytes);
    for (const row of rows) {
      versionOffsets.push(writer.length);
      for (const [, write] of columns) write(writer, row, projectId);
      if (writer.length > maxBytes) throw new TooManyBytesError();
    }
    return { table, bytes: writer.take(), versionOffsets };
  }
}
