import { PRICED_KINDS, WRAPPER_KINDS } from '../../../src/engine/traces/model/span/usage.js';
import { isMembers, membersOf, textOf, unfolded } from '../members.js';
import { MARK, type NotTaken } from '../step.js';
import type { Tally } from '../tally.js';
import type { Thing } from './shapes.js';

/** The mark of what comes from Langfuse. */
export const LANGFUSE = 'langfuse';

/** An event as clients of Langfuse send it, of which the server makes a span as it does of theirs. */
export interface LangfuseEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly body: Thing;
  readonly tally: Partial<Tally>;
  readonly left: readonly NotTaken[];
}

export function traceEvent(trace: Thing): LangfuseEvent | null {
  const [id, timestamp] = [textOf(trace['id']), textOf(trace['timestamp'])];
  if (id === null || timestamp === null) return null;
  // One that changed since wins over itself.
  const at = textOf(trace['updatedAt']) ?? timestamp;
  const { name, input, output, sessionId, userId, release, version, environment, public: isPublic, externalId } = trace;
  const body = {
    ...{ id, timestamp, name, input, output, sessionId, userId, release, version, environment, externalId },
    ...(typeof isPublic === 'boolean' && { public: isPublic }),
    tags: Array.isArray(trace['tags']) ? trace['tags'].filter((tag) => typeof tag === 'string') : [],
    metadata: marked(trace['metadata']),
  };
  return {
    ...{ id: `trace ${id}`, type: 'trace-create', timestamp: at, body },
    tally: { traces: 1, spans: 1 },
    left: [],
  };
}

/** Kinds of spans of observations that count what they cost, by type. */
const KINDS: Readonly<Record<string, string>> = { GENERATION: 'llm', EMBEDDING: 'embedding' };

export function observationEvent(observation: Thing): LangfuseEvent | null {
  const [id, startTime] = [textOf(observation['id']), textOf(observation['startTime'])];
  if (id === null || startTime === null) return null;
  const type = textOf(observation['type'])?.toUpperCase() ?? 'SPAN';
  const endTime = textOf(observation['endTime']);
  const { traceId, parentObservationId, name, input, output, model, promptName, promptVersion, level } = observation;
  const { statusMessage, version, environment, completionStartTime } = observation;
  const modelParameters = unfolded(observation['modelParameters']);
  const usageDetails = countsIn(observation['usageDetails']);
  const total = costOf(observation);
  const body = {
    ...{ id, traceId, parentObservationId, name, input, output, startTime, endTime, completionStartTime, level },
    ...{ model: textOf(model), promptName, promptVersion, statusMessage, version, environment, type },
    ...(isMembers(modelParameters) && { modelParameters }),
    ...(Object.keys(usageDetails).length > 0 && { usageDetails }),
    ...(total !== null && { costDetails: { ...countsIn(observation['costDetails']), total } }),
    metadata: marked(observation['metadata']),
  };
  const isPoint = type === 'EVENT' && endTime === null;
  const timestamp = textOf(observation['updatedAt']) ?? endTime ?? startTime;
  const event = { id: `observation ${id}`, type: isPoint ? 'event-create' : 'observation-create', timestamp, body };
  const kind = KINDS[type] ?? type.toLowerCase();
  const isUnpriced = PRICED_KINDS.has(kind) && total === null && Object.keys(usageDetails).length > 0;
  // They repeat the costs of the calls below them.
  const isWrapper = WRAPPER_KINDS.has(kind);
  const cost = isWrapper ? 0 : (total ?? 0);
  const left =
    isWrapper && (total ?? 0) > 0
      ? [{ what: event.id, why: 'costs of agents, chains and tools do not count: those of the calls below them do' }]
      : [];
  const tally = { spans: 1, priced: total === null || isWrapper ? 0 : 1, unpriced: isUnpriced ? 1 : 0, cost };
  return { ...event, tally, left };
}

/** The trace of a row that says what its trace is, where there are no rows of traces. */
export function traceOfRow(observation: Thing): Thing | null {
  if (textOf(observation['parentObservationId']) !== null || textOf(observation['traceId']) === null) return null;
  const { traceId: id, startTime: timestamp, traceName: name, sessionId, userId, release, environment } = observation;
  const { tags } = observation;
  return { id, timestamp, name, sessionId, userId, release, environment, tags };
}

/** What a call cost; null: nobody knows. */
function costOf(observation: Thing): number | null {
  const details = countsIn(observation['costDetails']);
  const stated = [details['total'], observation['calculatedTotalCost'], observation['totalCost']].find(isNumber);
  if (stated !== undefined) return stated;
  const parts = Object.values(details);
  return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0);
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Numbers by name; some exports write them as texts. */
function countsIn(value: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries(membersOf(unfolded(value))).flatMap(([name, count]) => {
      const number = typeof count === 'string' ? Number(count) : count;
      return isNumber(number) ? [[name, number]] : [];
    }),
  );
}

/** Metadata, with what says where it comes from first: of many, not all become tags. */
function marked(metadata: unknown): Record<string, unknown> {
  const said = unfolded(metadata);
  if (isMembers(said)) return { [MARK]: LANGFUSE, ...said };
  return { [MARK]: LANGFUSE, ...(said != null && said !== '' && { metadata: said }) };
}
