import type { Tags } from '../../schema/tags.js';
import { toJsonText } from '../../json-text.js';
import { spanFields, type Field, type FieldType, type SpanCall } from '../model/list/fields.js';
import type { Span } from '../model/span/span.js';
import { CALL_FIELDS } from '../model/span/span-call.js';
import { hasError } from '../model/span/span-read.js';
import type { ExperimentMark } from '../model/experiment/results.js';
import type { PostedSession, PostedTrace } from '../model/trace/posted.js';
import type { Score, ScorePlace } from '../model/score/score.js';
import type { RowBinaryWriter } from './row-binary.js';
import { statedVersion, type Version } from './version-clock.js';

/**
 * Kinds of rows that are appended; `session_statements` are posted sessions. Spans of a request are `marked_spans` where one of
 * them is of an experiment: others take no byte more, and rows in the log from before there were experiments are read alike.
 */
export type TableName = 'spans' | 'marked_spans' | 'facts' | 'session_statements' | 'scores';

/** The tables that rows are stored in. */
export const STORED_IN = {
  spans: 'spans',
  marked_spans: 'spans',
  facts: 'facts',
  session_statements: 'session_statements',
  scores: 'scores',
} as const satisfies Record<TableName, string>;

/**
 * A span as a row: `originVersion` when it is not what a client has just written, but what one wrote at that version;
 * `receivedVersion` when it is to look as if it was received then, since columns of it were filled in alone; `builtOn` when it holds
 * what was written at that version, which is not stored as a column.
 */
export type SpanRow = Span & {
  readonly originVersion?: Version;
  readonly receivedVersion?: Version;
  readonly builtOn?: Version;
};

type ColumnWriter<T> = (writer: RowBinaryWriter, row: T, projectId: string) => void;
export type Column<T> = readonly [name: string, write: ColumnWriter<T>];

const bytes = (writer: RowBinaryWriter, value: string) => writer.uint32(Buffer.byteLength(value));
const id = (writer: RowBinaryWriter, value: string) => writer.uuid(value);
const text = (writer: RowBinaryWriter, value: string) => writer.string(value);
const integer = (writer: RowBinaryWriter, value: number) => writer.uint64(value);
const float = (writer: RowBinaryWriter, value: number) => writer.float64(value);
const decimal = (writer: RowBinaryWriter, value: number) => writer.decimal12(value);

/** How values of each type are encoded. */
const ENCODED: Readonly<Record<FieldType, (writer: RowBinaryWriter, value: never) => void>> = {
  id,
  text,
  kind: text,
  status: text,
  time: integer,
  number: float,
  money: decimal,
  integer,
  boolean: (writer, value: boolean) => writer.uint8(value ? 1 : 0),
  tags: (writer, value: Tags) => writer.tags(value),
  json: (writer, value: unknown) => writer.string(toJsonText(value)),
};

type SpanField = keyof typeof spanFields;
type SpanWriters = Readonly<Record<string, ColumnWriter<SpanRow>>>;

/** Columns in place of fields that are not stored by their types: ids of spans behind those of traces, input and output in one. */
const STORED_OTHERWISE: Partial<Record<SpanField, SpanWriters>> = {
  id: { trace_id: (w, span) => w.uuid(span.trace_id), id: (w, span) => w.uuid(span.id) },
  trace_id: {},
  project_id: {},
  input_data: {
    payload: (w, span) => w.string(span.input_data ?? '', span.output_data ?? ''),
    input_bytes: (w, span) => w.nullable(span.input_data, bytes),
    no_output: (w, span) => w.uint8(span.output_data === null ? 1 : 0),
  },
  output_data: {},
  has_error: { has_error: (w, span) => w.uint8(hasError(span) ? 1 : 0) },
  created_at: {
    cost_calculated: (w, span) => w.uint8(span.cost_calculated === true ? 1 : 0),
    origin_ver: (w, span) => w.uint64(span.originVersion ?? 0),
    received_ver: (w, span) => w.uint64(span.receivedVersion ?? 0),
  },
};

/** The writers of the columns of `spans`, in the order in which rows are encoded, also those in the log from before a start. */
const spanColumns = Object.assign(
  { ver: (w) => w.uint64(0), project_id: (w, _span, projectId) => w.string(projectId) } satisfies SpanWriters,
  ...(Object.entries(spanFields) as [SpanField, Field][]).map(
    ([name, field]) => STORED_OTHERWISE[name] ?? { [name]: columnOf(name, field) },
  ),
) as SpanWriters;

function columnOf(name: SpanField, { type, nullable, emptyIsNull }: Field): ColumnWriter<SpanRow> {
  const write = ENCODED[type] as (writer: RowBinaryWriter, value: unknown) => void;
  const read = CALL_FIELDS.has(name)
    ? ({ call }: SpanRow) => call?.[name as keyof SpanCall] ?? null
    : (span: SpanRow) => span[name as keyof SpanRow];
  if (emptyIsNull === true) return (w, span) => write(w, read(span) ?? '');
  return nullable ? (w, span) => w.nullable(read(span), write) : (w, span) => write(w, read(span));
}

/** A span of a request with a mark, and its own, if it has one. */
interface MarkedSpan {
  readonly span: SpanRow;
  readonly mark: ExperimentMark | null;
}

const markedSpanColumns = {
  ...Object.fromEntries(
    Object.entries(spanColumns).map(([name, write]): [string, ColumnWriter<MarkedSpan>] => [
      name,
      (w, { span }, projectId) => write(w, span, projectId),
    ]),
  ),
  experiment_id: (w, { mark }) => w.nullable(mark?.experiment_id ?? null, id),
  experiment_row: (w, { mark }) => w.string(mark?.row_id ?? ''),
  experiment_repetition: (w, { mark }) => w.uint32(mark?.repetition ?? 0),
  experiment_trace: (w, { mark }) => w.nullable(mark?.made_in ?? null, id),
} satisfies Readonly<Record<string, ColumnWriter<MarkedSpan>>>;

/** A row of `facts` that does not come from a span. */
export interface Fact {
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
export interface SessionRow {
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

/** A row of `scores`. */
export interface ScoreRow {
  readonly place: ScorePlace;
  /** Null: a tombstone. */
  readonly score: Score | null;
}

const scoreColumns = {
  ver: (w) => w.uint64(0),
  project_id: (w, _score, projectId) => w.string(projectId),
  entity_type: (w, { place }) => w.string(place.entity_type),
  entity_id: (w, { place }) => w.uuid(place.entity_id),
  name: (w, { place }) => w.string(place.name),
  id: (w, { place }) => w.uuid(place.id),
  deleted: (w, { score }) => w.uint8(score === null ? 1 : 0),
  source: (w, { score }) => w.string(score?.source ?? ''),
  author: (w, { score }) => w.string(score?.author ?? ''),
  kind: (w, { score }) => w.string(score?.kind ?? ''),
  number: (w, { score }) => w.nullable(typeof score?.value === 'string' ? null : Number(score?.value ?? 0), float),
  text: (w, { score }) => w.string(typeof score?.value === 'string' ? score.value : ''),
  comment: (w, { score }) => w.string(score?.comment ?? ''),
  metadata: (w, { score }) => w.string(score === null ? '' : toJsonText(score.metadata)),
  received_ver: (w, { score }) => w.uint64(score?.received_at === undefined ? 0 : statedVersion(score.received_at)),
} satisfies Record<Exclude<keyof Score, 'value' | 'received_at'> | ScoreStorageColumn, ColumnWriter<ScoreRow>>;

/** Columns of scores that are no field of theirs: the value as `number` or `text`. */
type ScoreStorageColumn = 'ver' | 'project_id' | 'deleted' | 'number' | 'text' | 'received_ver';

const columnsOf = <T>(writers: Readonly<Record<string, ColumnWriter<T>>>): readonly Column<T>[] =>
  Object.entries(writers);
/** How rows of each kind are encoded, column by column. */
export const columns = {
  spans: columnsOf<SpanRow>(spanColumns),
  marked_spans: columnsOf<MarkedSpan>(markedSpanColumns),
  facts: columnsOf<Fact>(factColumns),
  session_statements: columnsOf<SessionRow>(sessionColumns),
  scores: columnsOf<ScoreRow>(scoreColumns),
} satisfies Record<TableName, unknown>;

/** The columns that rows of each kind are encoded in. */
export const insertedColumns: Readonly<Record<TableName, readonly string[]>> = {
  spans: Object.keys(spanColumns),
  marked_spans: Object.keys(markedSpanColumns),
  facts: Object.keys(factColumns),
  session_statements: Object.keys(sessionColumns),
  scores: Object.keys(scoreColumns),
};
