import { PRICED_KINDS } from '../../../src/engine/traces/model/span/usage.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../src/engine/timestamp.js';
import { wholeSpan } from '../../../src/facade/parts.js';
import { RunIdentities } from '../../../src/langsmith/runs/run-identities.js';
import { checkedRun, draftOf, type RunContext } from '../../../src/langsmith/runs/read-runs.js';
import { isMembers, membersOf, shortened, textOf, unfolded, type Members } from '../members.js';
import { MARK, type NotTaken, type SentSpan } from '../step.js';

/** The mark of what comes from LangSmith. */
export const LANGSMITH = 'langsmith';

/** Names by which programs say which conversation a run is part of. */
const SESSIONS = ['session_id', 'thread_id', 'conversation_id'] as const;
const MAX_NAME = 1000;
const MAX_TAGS = 1000;

/** A run as a span, read as the server reads those that clients send, or why it is none. @param what what to call it */
export function spanOfRun(projectId: string, row: Members, what: string): SentSpan | NotTaken {
  if (textOf(row['id']) === null || textOf(row['trace_id']) === null || textOf(row['start_time']) === null)
    return { what, why: 'it has no id, no trace or no start' };
  const sent = { isPatch: false, body: runOf(row), pointer: '' };
  const run = checkedRun(sent);
  if ('why' in run) return { what, why: run.why };
  const draft = draftOf(sent, run, contextOf(projectId));
  if ('why' in draft) return { what, why: draft.why };
  const span = wholeSpan(draft);
  if (typeof span === 'string') return { what, why: span };
  const marked = { [MARK]: LANGSMITH };
  const { id, trace_id, parent_span_id, session_id, session_name, name, kind, input_data, output_data } = span;
  const { error_code, error_message, error_stack, attributes } = span;
  return {
    ...{ id, trace_id, parent_span_id, session_id, session_name, name, kind, input_data, output_data },
    ...{ error_code, error_message, error_stack, attributes, status: span.status ?? 'unset' },
    ...{ started_at: formatTimestamp(span.started_at), ended_at: formatOptionalTimestamp(span.ended_at) },
    // What children have, they inherited: calls of models alone are paid for.
    cost: PRICED_KINDS.has(span.kind) ? numberIn(row['total_cost']) : null,
    tags: { ...span.tags, ...marked },
    trace_tags: { ...span.trace_tags, ...marked },
    session_tags: session_id === null ? {} : { ...span.session_tags, ...marked },
  };
}

function contextOf(projectId: string): RunContext {
  return {
    ...{ projectId, now: 0, traces: new Map(), experimentOf: () => null, repetitionOf: () => 1 },
    identities: new RunIdentities(),
  };
}

/** What a row of the export says, as a client would. */
function runOf(row: Members): Members {
  const extra = membersOf(unfolded(row['extra']));
  const tags = unfolded(row['tags']);
  return {
    ...{ id: row['id'], trace_id: row['trace_id'], parent_run_id: parentOf(row), dotted_order: row['dotted_order'] },
    ...{ name: shortened(textOf(row['name']) ?? kindOf(row), MAX_NAME), run_type: kindOf(row) },
    ...{ start_time: row['start_time'], end_time: textOf(row['end_time']), error: textOf(row['error']) },
    ...{ inputs: payloadOf(row['inputs']), outputs: payloadOf(row['outputs']) },
    session_name: textOf(row['session_name']) ?? textOf(row['project_name']) ?? textOf(row['session_id']),
    tags: Array.isArray(tags) ? tags.slice(0, MAX_TAGS).map(String) : null,
    extra: { ...extra, metadata: metadataOf(row, membersOf(extra['metadata'])) },
  };
}

const kindOf = (row: Members) => textOf(row['run_type'])?.toLowerCase() ?? 'chain';

function metadataOf(row: Members, own: Members): Members {
  const metadata = { ...membersOf(unfolded(row['metadata'])), ...own };
  const thread = textOf(row['thread_id']);
  const isNamed = SESSIONS.some((name) => textOf(metadata[name]) !== null);
  const usage = usageOf(row);
  return {
    ...metadata,
    ...(!isNamed && thread !== null && { thread_id: thread }),
    ...(usage !== null && { usage_metadata: usage }),
  };
}

/** Tokens as the export has them, in columns of their own. */
function usageOf(row: Members): Members | null {
  const [input, output] = [numberIn(row['prompt_tokens']), numberIn(row['completion_tokens'])];
  if (input === null && output === null) return null;
  const details = membersOf(unfolded(row['prompt_token_details']));
  const [read, written] = [numberIn(details['cache_read']), numberIn(details['cache_creation'])];
  return {
    ...{ input_tokens: input, output_tokens: output },
    input_token_details: { cache_read: read, cache_creation: written },
  };
}

/** The run above, by its id, or by the last of the ids above; else the order says it. */
function parentOf(row: Members): string | null {
  const above = unfolded(row['parent_run_ids']);
  const stated = textOf(row['parent_run_id']) ?? (Array.isArray(above) ? textOf(above.at(-1)) : null);
  return stated === textOf(row['id']) ? null : stated;
}

/** Costs are decimal numbers, which some files have as texts. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}

/** A text stays as it was written. */
function payloadOf(value: unknown): unknown {
  if (isMembers(value) && Object.keys(value).length === 0) return null;
  return value;
}
