import { uuidOf } from '../../engine/schema/ids.js';
import { parseTimestamp, type Micros } from '../../engine/timestamp.js';
import type { PartialSpan, SaidFields } from '../../engine/traces/model/partial/partial-span.js';
import { named, readDrafts, type Draft } from '../../facade/parts.js';
import type { Told } from '../../facade/told.js';
import type { MappingLimits } from '../../otlp/span.js';
import { ownId, traceSpanId } from '../ids.js';
import { event, observation, trace, type Event, type Observation, type Trace } from './event-schema.js';
import { observed, traced } from './observed.js';

/** What an event of a batch is, once it is read; its place in the batch is that in the list. */
export type ReadEvent =
  | { readonly kind: 'part'; readonly id: string; readonly part: PartialSpan }
  | { readonly kind: 'score'; readonly id: string; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'ignored'; readonly id: string }
  | { readonly kind: 'refused'; readonly id: string; readonly why: string };

/** Reads the events of a batch; each is refused alone. */
export async function readEvents(
  projectId: string,
  events: readonly unknown[],
  limits: MappingLimits,
): Promise<ReadEvent[]> {
  const read = await readDrafts(events, (event) => readEvent(projectId, event), limits);
  return read.map((each) => {
    if ('kind' in each) return each;
    return 'part' in each ? { kind: 'part', ...each } : { kind: 'refused', ...each };
  });
}

/** Types of observations by the word in front of `-create` and `-update`. */
const OBSERVATIONS: Readonly<Record<string, string | null>> = {
  span: null,
  observation: null,
  event: 'event',
  generation: 'generation',
  ...Object.fromEntries(
    ['embedding', 'chain', 'retriever', 'tool', 'agent', 'guardrail', 'evaluator'].map((type) => [type, type]),
  ),
};

function readEvent(projectId: string, sent: unknown): ReadEvent | Draft {
  const stated = (sent as { readonly id?: unknown } | null)?.id;
  const id = typeof stated === 'string' ? stated.slice(0, 256) : '';
  const refused = (why: string): ReadEvent => ({ kind: 'refused', id, why });
  const [issue] = event.issues(sent, '', 1);
  if (issue !== undefined) return refused(`${issue.pointer.slice(1)} ${issue.detail}`);
  const { type, timestamp, body } = sent as Event;
  const at = parseTimestamp(timestamp);
  if (at === undefined) return refused('timestamp must be an ISO 8601 time');
  if (type === 'sdk-log') return { kind: 'ignored', id };
  if (type === 'score-create') return { kind: 'score', id, body };
  const [what = '', verb = ''] = type.split('-');
  const known = type === 'trace-create' || (Object.hasOwn(OBSERVATIONS, what) && /^(create|update)$/.test(verb));
  if (!known) return refused(`type ${JSON.stringify(type)} is not known`);
  const [flaw] = (what === 'trace' ? trace : observation).issues(body, '/body', 1);
  if (flaw !== undefined) return refused(`${flaw.pointer.slice(1)} ${flaw.detail}`);
  const place = { id, at, projectId };
  const draft =
    what === 'trace' ? ofTrace(place, body) : ofObservation({ ...place, isUpdate: verb === 'update', what }, body);
  return typeof draft === 'string' ? refused(draft) : draft;
}

interface Place {
  readonly id: string;
  readonly at: Micros;
  readonly projectId: string;
}

/** The span that stands for the trace. A client that changes its trace creates it once more, with the time of that. */
function ofTrace({ id, at, projectId }: Place, body: Trace): Draft | string {
  const seenAt = body.timestamp == null ? at : parseTimestamp(body.timestamp);
  if (seenAt === undefined) return 'body/timestamp must be an ISO 8601 time';
  const stated = body.id ?? id;
  const traceId = ownId(projectId, stated);
  const told = traced(body);
  noteId(told, stated, traceId);
  const key = { trace_id: traceId, id: traceSpanId(traceId) };
  return { id, key, at, isUpdate: false, told, said: named(body.name), seenAt };
}

interface ObservationPlace extends Place {
  readonly isUpdate: boolean;
  readonly what: string;
}

function ofObservation({ id, at, projectId, isUpdate, what }: ObservationPlace, body: Observation): Draft | string {
  const startedAt = timeOf(body.startTime);
  const endedAt = timeOf(body.endTime);
  if (startedAt === undefined || endedAt === undefined || timeOf(body.completionStartTime) === undefined)
    return 'body has a time that is not ISO 8601';
  const stated = body.id ?? id;
  const own = ownId(projectId, stated);
  // Without a trace, it is one of its own.
  const traceId = ownId(projectId, body.traceId ?? stated);
  const parent = body.parentObservationId == null ? null : ownId(projectId, body.parentObservationId);
  if (parent === own) return 'body/parentObservationId must not be the observation itself';
  const type = OBSERVATIONS[what] ?? body.type?.toLowerCase() ?? null;
  const told = observed(body, type);
  noteId(told, stated, own);
  const isPoint = what === 'event' && !isUpdate;
  const said: SaidFields = {
    ...named(body.name),
    parent_span_id: parent ?? (isUpdate ? null : traceSpanId(traceId)),
    started_at: startedAt ?? (isPoint ? at : null),
    ended_at: endedAt ?? (isPoint ? (startedAt ?? at) : null),
  } as SaidFields;
  return { id, key: { trace_id: traceId, id: own }, at, isUpdate, told, said };
}

/** Null: it is not said; undefined: it is no time. */
function timeOf(text: string | null | undefined): Micros | null | undefined {
  return text == null ? null : parseTimestamp(text);
}

/** Keeps an id of which a UUID was made. */
function noteId({ attributes }: Told, stated: string, own: string): void {
  if (uuidOf(stated) !== own) attributes['langfuse.id'] = stated;
}
