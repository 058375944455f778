import { uuidOf } from '../../engine/schema/ids.js';
import { formatTimestamp, parseTimestamp, type Micros } from '../../engine/timestamp.js';
import type { SaidFields } from '../../engine/traces/model/partial/partial-span.js';
import { named, type Draft } from '../../facade/parts.js';
import { tell, type Told } from '../../facade/told.js';
import { newAttributes, type Attributes } from '../../otlp/model.js';
import { ownId } from '../ids.js';
import { placeOfRun } from './dotted-order.js';
import { errorFields } from './error-text.js';
import type { RunIdentities } from './run-identities.js';
import { run as runValidator, type Run } from './run-schema.js';
import { asObject } from '../../facade/json.js';
import { modelIn, usageIn } from './usage.js';

/** A run as it was sent. */
export interface SentRun {
  /** Whether it adds to a run that was sent before. */
  readonly isPatch: boolean;
  readonly body: unknown;
  /** Where it stands in the request. */
  readonly pointer: string;
  readonly attachments?: readonly SentAttachment[];
}

/** A file that came with a run. */
export interface SentAttachment {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Of an image that can be kept; null: only its name is. */
  readonly base64: string | null;
}

/** What has to be known to read runs. */
export interface RunContext {
  readonly projectId: string;
  readonly now: Micros;
  /** Traces of runs that do not say theirs, by the id of the run, or of its parent. */
  readonly traces: ReadonlyMap<string, string>;
  /** The experiment that a run belongs to; null: none. */
  readonly experimentOf: (run: Pick<Run, 'session_id' | 'session_name'>) => string | null;
  /** Which try at an example a run is, from 1. */
  readonly repetitionOf: (experimentId: string, rowId: string, spanId: string) => number;
  /** Of several parts of a run with one end, the later in the request counts. */
  readonly identities: RunIdentities;
}

/** A run that cannot be stored. */
export interface RefusedRun {
  readonly id: string;
  readonly why: string;
}

/** A run that fits the schema, or why it does not. */
export function checkedRun({ body }: SentRun): Run | RefusedRun {
  const stated = asObject(body)?.['id'];
  const id = typeof stated === 'string' ? stated.slice(0, 256) : '';
  const [issue] = runValidator.issues(body, '', 1);
  return issue === undefined ? (body as Run) : { id, why: `${issue.pointer} ${issue.detail}`.trim() };
}

/** A run that says nothing of its trace, where it is part of one: the run, or its parent, that tells. */
export function strayOf(projectId: string, run: Run, isPatch: boolean): string | null {
  if (run.trace_id != null || placeOfRun(run.dotted_order).trace !== null) return null;
  if (run.parent_run_id != null) return ownId(projectId, run.parent_run_id);
  return isPatch ? ownId(projectId, run.id) : null;
}

/** What a run says of its span. */
export function draftOf(sent: SentRun, run: Run, context: RunContext): Draft | RefusedRun {
  const { projectId, now } = context;
  const { isPatch } = sent;
  const place = placeOfRun(run.dotted_order);
  const [start, end] = [timeOf(run.start_time), timeOf(run.end_time)];
  if (start === undefined || end === undefined) return { id: run.id, why: '/start_time and /end_time must be times' };
  const idOf = (text: string | null | undefined) => (text == null ? null : ownId(projectId, text));
  const id = ownId(projectId, run.id);
  const parent = idOf(run.parent_run_id) ?? idOf(place.parent);
  if (parent === id) return { id: run.id, why: '/parent_run_id must not be the run itself' };
  const stray = strayOf(projectId, run, isPatch);
  const known = stray === null ? undefined : context.traces.get(stray);
  const trace = idOf(run.trace_id) ?? idOf(place.trace) ?? known ?? id;
  const startedAt = start ?? place.start;
  // By the client's clock alone: by that of the server, what was said before the end would count behind it.
  const at = end ?? startedAt ?? now;
  return {
    id: context.identities.of(sent, id),
    key: { trace_id: trace, id },
    at,
    isUpdate: isPatch || end !== null,
    told: toldBy(sent, run, context, parent),
    said: {
      ...named(run.name),
      ...statusOf(run, end),
      ...errorFields(run.error),
      parent_span_id: parent,
      ...(startedAt !== null && { started_at: startedAt }),
      ended_at: end,
    },
    ...(!isPatch && startedAt === null && { seenAt: now }),
  };
}

function statusOf({ error }: Run, end: Micros | null): SaidFields {
  if (error != null && error !== '') return { status: 'error' };
  return end === null ? {} : { status: 'ok' };
}

/** Null: it is not said; undefined: it is no time. */
function timeOf(sent: string | number | null | undefined): Micros | null | undefined {
  return sent == null ? null : parseTimestamp(sent);
}

/** Types of runs that call a model. Others inherit the metadata of a run above them, with the usage in it. */
const CALLS: ReadonlySet<string> = new Set(['llm', 'embedding']);

function toldBy({ attachments }: SentRun, run: Run, context: RunContext, parent: string | null): Told {
  const attributes = newAttributes();
  const type = run.run_type?.toLowerCase() ?? null;
  const metadata = asObject(run.extra?.['metadata']) ?? {};
  tell(attributes, 'langsmith.span.kind', type);
  tell(attributes, 'langsmith.trace.session_name', run.session_name);
  tell(attributes, 'langsmith.dotted_order', run.dotted_order);
  if (run.tags != null && run.tags.length > 0) tell(attributes, 'langsmith.span.tags', run.tags);
  if (uuidOf(run.id) !== ownId(context.projectId, run.id)) tell(attributes, 'langsmith.id', run.id);
  tell(attributes, 'langsmith.first_token_time', firstTokenTime(run.events));
  for (const [name, value] of Object.entries(metadata))
    if (name !== 'usage_metadata') tell(attributes, `langsmith.metadata.${name}`, value);
  for (const [name, value] of Object.entries(run.extra ?? {}))
    // All runs of a trace have one runtime.
    if (name !== 'metadata' && (name !== 'runtime' || parent === null))
      tell(attributes, `langsmith.extra.${name}`, value);
  markResult(attributes, run, context);
  keepAttachments(attributes, attachments ?? []);
  const isCall = type === null || CALLS.has(type);
  const usage = isCall ? usageIn(run.outputs, type === null ? {} : metadata) : null;
  for (const [name, value] of Object.entries(usage ?? {})) tell(attributes, name, value);
  if (isCall) {
    const invocation = asObject(run.extra?.['invocation_params']) ?? {};
    tell(attributes, 'model', modelIn(run.outputs, { metadata, invocation }));
    tell(attributes, 'provider', textOrNull(metadata['ls_provider']));
  }
  return { attributes, usage: usage !== null, input: content(run.inputs), output: content(run.outputs) };
}

/** A run that belongs to an experiment, and the row that it is a result of. */
function markResult(attributes: Attributes, run: Run, context: RunContext): void {
  const { projectId, experimentOf, repetitionOf } = context;
  const experiment = experimentOf(run);
  tell(attributes, 'spanhouse.experiment.id', experiment);
  if (run.reference_example_id == null) return;
  const row = ownId(projectId, run.reference_example_id);
  tell(attributes, 'spanhouse.experiment.row_id', row);
  const repetition = experiment === null ? 1 : repetitionOf(experiment, row, ownId(projectId, run.id));
  if (repetition > 1) tell(attributes, 'spanhouse.experiment.repetition', repetition);
}

function keepAttachments(attributes: Attributes, sent: readonly SentAttachment[]): void {
  const images = sent.flatMap(({ name, base64 }) => (base64 === null ? [] : [{ type: 'image', label: name, base64 }]));
  const others = sent.filter(({ base64 }) => base64 === null);
  if (images.length > 0) tell(attributes, 'attachments', images);
  if (others.length > 0)
    tell(
      attributes,
      'langsmith.attachments',
      others.map(({ name, mediaType, bytes }) => ({ name, media_type: mediaType, bytes })),
    );
}

/** Clients send an empty object for what they do not know yet, or leave out. */
function content(value: unknown): unknown {
  const object = asObject(value);
  return object !== undefined && Object.keys(object).length === 0 ? null : value;
}

function firstTokenTime(events: Run['events']): string | null {
  for (const event of events ?? []) {
    const { name, time } = asObject(event) ?? {};
    const at = name === 'new_token' ? parseTimestamp(time) : undefined;
    if (at !== undefined) return formatTimestamp(at);
  }
  return null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
