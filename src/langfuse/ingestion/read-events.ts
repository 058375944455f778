import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { uuidOf } from '../../engine/schema/ids.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import { parseTimestamp, type Micros } from '../../engine/timestamp.js';
import type { PartialSpan, SaidFields } from '../../engine/traces/model/partial/partial-span.js';
import type { Stamp } from '../../engine/traces/model/partial/stamps.js';
import type { MappingLimits } from '../../otlp/span.js';
import { ownId, traceSpanId } from '../ids.js';
import { event, observation, trace, type Event, type Observation, type Trace } from './event-schema.js';
import { fieldsOf, observed, traced, type Told } from './observed.js';

/** What an event of a batch is, once it is read; its place in the batch is that in the list. */
export type ReadEvent =
  | { readonly kind: 'part'; readonly id: string; readonly part: PartialSpan }
  | { readonly kind: 'score'; readonly id: string; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'ignored'; readonly id: string }
  | { readonly kind: 'refused'; readonly id: string; readonly why: string };

/** An event about a span, before its attributes are read. */
interface Draft {
  readonly id: string;
  readonly key: { readonly trace_id: string; readonly id: string };
  readonly at: Micros;
  readonly isUpdate: boolean;
  readonly told: Told;
  /** Fields that come from no attribute. */
  readonly said: SaidFields;
  readonly seenAt?: Micros;
}

/** Events whose attributes are read together, and the longest time before other requests get a turn. */
const READ_AT_ONCE = 10;
const MAX_TURN_MS = 10;

/** Reads the events of a batch; each is refused alone. */
export async function readEvents(
  projectId: string,
  events: readonly unknown[],
  limits: MappingLimits,
): Promise<ReadEvent[]> {
  const read: (ReadEvent | Draft)[] = [];
  const stamps = new Stamps();
  let began = performance.now();
  for (let from = 0; from < events.length; from += READ_AT_ONCE) {
    if (performance.now() - began > MAX_TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    const drafts = events.slice(from, from + READ_AT_ONCE).map((each) => readEvent(projectId, each));
    const said = saidBy(
      drafts.flatMap((draft) => ('told' in draft ? [draft.told] : [])),
      limits,
    ).values();
    for (const draft of drafts) {
      if (!('told' in draft)) {
        read.push(draft);
        continue;
      }
      const fields = said.next().value ?? {};
      if (typeof fields === 'string') read.push({ kind: 'refused', id: draft.id, why: fields });
      else read.push({ kind: 'part', id: draft.id, part: partOf(draft, fields, stamps) });
    }
  }
  return read as ReadEvent[];
}

/** What events say, or why one says too much: those read together count together, so then each is read alone. */
function saidBy(events: readonly Told[], limits: MappingLimits): (SaidFields | string)[] {
  try {
    return fieldsOf(events, limits);
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'too_large') throw error;
    if (events.length === 1) return [error.message];
    return events.flatMap((each) => saidBy([each], limits));
  }
}

function partOf(draft: Draft, mapped: SaidFields, stamps: Stamps): PartialSpan {
  const { key, said, seenAt } = draft;
  const stamp = stamps.of(draft);
  return { ...key, stamp, said: { ...mapped, ...said }, ...(seenAt !== undefined && { seenAt }) };
}

/** Events of one span in one millisecond count in the order of their batch, updates behind what they update. */
class Stamps {
  readonly #seen = new Map<string, Map<string, number>>();

  of({ key: { trace_id, id: span }, id, at, isUpdate }: Draft): Stamp {
    const first = Math.floor(at / 1000) * 1000 + (isUpdate ? 500 : 0);
    const name = `${trace_id}/${span}/${first}`;
    const events = this.#seen.get(name) ?? new Map<string, number>();
    this.#seen.set(name, events);
    // An event that the batch repeats stays the same.
    const position = events.get(id) ?? events.size;
    events.set(id, position);
    return first + Math.min(position, 499);
  }
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

function named(name: string | null | undefined): SaidFields {
  return name == null || name === '' ? {} : { name: normalizeText(name) };
}

/** Null: it is not said; undefined: it is no time. */
function timeOf(text: string | null | undefined): Micros | null | undefined {
  return text == null ? null : parseTimestamp(text);
}

/** Keeps an id of which a UUID was made. */
function noteId({ attributes }: Told, stated: string, own: string): void {
  if (uuidOf(stated) !== own) attributes['langfuse.id'] = stated;
}
