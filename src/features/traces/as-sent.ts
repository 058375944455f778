import type { SessionRead, TraceRead } from '../../engine/traces/model/list/fields.js';
import { promptNamedIn, type PromptNames } from '../../engine/traces/model/span/named-prompt.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../engine/timestamp.js';
import type { PostedSession, PostedTrace } from '../../engine/traces/model/trace/posted.js';

/* What a caller that may not read the project is answered: only what it sent, and the ids made for it. */

const NO_PROMPTS: PromptNames = { versionNamed: () => undefined, slugNamed: () => undefined };

/** The span without what the project's prices and prompts say of it. */
export function spanAsSent(span: Span, projectId: string): Span {
  const { call } = span;
  return {
    ...span,
    ...(span.cost_calculated === true && { cost: null }),
    ...(call && { call: { ...call, ...promptNamedIn(span.attributes, projectId, NO_PROMPTS) } }),
  };
}

/** The posted trace, without fields that were not posted. */
export function traceAsSent(trace: PostedTrace, projectId: string): Partial<TraceRead> {
  const { started_at, ended_at, attributes, tags, ...fields } = trace;
  const times = { started_at: formatTimestamp(started_at), ended_at: formatOptionalTimestamp(ended_at) };
  return { ...posted({ ...fields, ...times }), project_id: projectId, tags, attributes };
}

/** The posted session, without fields that were not posted. */
export function sessionAsSent(session: PostedSession, projectId: string): Partial<SessionRead> {
  const { attributes, tags, ...fields } = session;
  return { ...posted(fields), project_id: projectId, tags, attributes };
}

type Posted<T> = { [K in keyof T]?: Exclude<T[K], null> };

function posted<T extends object>(fields: T): Posted<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Posted<T>;
}
