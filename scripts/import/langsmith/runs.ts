import { UUID, uuidOf } from '../../../src/engine/schema/ids.js';
import { PRICED_KINDS } from '../../../src/engine/traces/model/span/usage.js';
import { sessionNamed } from '../../../src/otlp/session-id.js';
import { isMembers, membersOf, shortened, textOf, unfolded, type Members } from '../members.js';
import { MARK, type NotTaken, type SentSpan } from '../step.js';

/** The mark of what comes from LangSmith. */
export const LANGSMITH = 'langsmith';

/** Names by which programs say which conversation a run is part of. */
const SESSIONS = ['session_id', 'thread_id', 'conversation_id'] as const;
const MAX_NAME = 1000;
const MAX_ERROR = 10_000;

/** A run as a span, or why it is none. @param what what to call it */
export function spanOfRun(run: Members, what: string): SentSpan | NotTaken {
  const [id, traceId] = [idIn(run['id']), idIn(run['trace_id'])];
  const startedAt = textOf(run['start_time']);
  if (id === null || traceId === null || startedAt === null) return { what, why: 'it has no id, no trace or no start' };
  const kind = textOf(run['run_type'])?.toLowerCase() ?? 'chain';
  const extra = membersOf(unfolded(run['extra']));
  const metadata = { ...membersOf(unfolded(run['metadata'])), ...membersOf(extra['metadata']) };
  const named =
    SESSIONS.map((name) => textOf(metadata[name])).find((name) => name !== null) ?? textOf(run['thread_id']);
  const session = named == null ? null : sessionNamed(named);
  const error = textOf(run['error']);
  const tags = tagsOf(run, metadata);
  return {
    ...{ id, trace_id: traceId, parent_span_id: parentOf(run, id) },
    ...{ session_id: session?.id ?? null, session_name: session?.name ?? null },
    ...{ name: shortened(textOf(run['name']) ?? kind, MAX_NAME), kind },
    ...{ started_at: startedAt, ended_at: textOf(run['end_time']) },
    ...{ status: error === null ? 'ok' : 'error', error_message: error === null ? null : shortened(error, MAX_ERROR) },
    ...{ input_data: payloadOf(run['inputs']), output_data: payloadOf(run['outputs']) },
    // What children have, they inherited: calls of models alone are paid for.
    ...(PRICED_KINDS.has(kind) ? { cost: numberIn(run['total_cost']) } : {}),
    attributes: { ...(PRICED_KINDS.has(kind) && callOf(run, metadata, extra)), metadata },
    ...{ tags, trace_tags: tags, session_tags: session === null ? {} : tags },
  };
}

function callOf(run: Members, metadata: Members, extra: Members): Record<string, unknown> {
  const parameters = membersOf(extra['invocation_params']);
  const model = [metadata['ls_model_name'], parameters['model'], parameters['model_name']].map(textOf).find(Boolean);
  const provider = textOf(metadata['ls_provider']);
  const details = membersOf(unfolded(run['prompt_token_details']));
  const counts = {
    inputTokens: numberIn(run['prompt_tokens']),
    outputTokens: numberIn(run['completion_tokens']),
    cacheReadTokens: numberIn(details['cache_read']),
    cacheWriteTokens: numberIn(details['cache_creation']),
  };
  return {
    ...(model != null && { model }),
    ...(provider !== null && { provider }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null)),
  };
}

/** The run above, by its id, or by the last of the ids above, or by the order, which has all of them. */
function parentOf(run: Members, id: string): string | null {
  const stated = idIn(run['parent_run_id']);
  if (stated !== null) return stated === id ? null : stated;
  const above = unfolded(run['parent_run_ids']);
  const last = Array.isArray(above) ? idIn(above.at(-1)) : null;
  const order = textOf(run['dotted_order'])?.split('.').at(-2);
  return last ?? idIn(order?.slice(order.indexOf('Z') + 1));
}

function tagsOf(run: Members, metadata: Members): Record<string, string> {
  const words = unfolded(run['tags']);
  const project = textOf(run['session_name']) ?? textOf(run['project_name']) ?? textOf(run['session_id']);
  const user = textOf(metadata['user_id']);
  return {
    [MARK]: LANGSMITH,
    ...(project !== null && { project }),
    ...(user !== null && { user }),
    ...Object.fromEntries(Array.isArray(words) ? words.map((word) => [String(word).slice(0, MAX_TAG), 'true']) : []),
  };
}

const MAX_TAG = 256;

function idIn(value: unknown): string | null {
  const id = uuidOf(textOf(value)?.toLowerCase() ?? '');
  return UUID.test(id) ? id : null;
}

/** Costs are decimal numbers, which some files have as texts. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}

function payloadOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (isMembers(value) && Object.keys(value).length === 0) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
