import { v5 as uuidFrom } from 'uuid';
import { invalid } from '../engine/validation/validation.js';
import { idFrom, MAX_ID } from '../facade/ids.js';
import { sessionNamed } from '../otlp/session-id.js';

export { MAX_ID };

/** Names the spans that stand for traces. */
const TRACE_SPANS = '7c2d0a63-0d52-4f0f-8f3e-0b8f6a1d9e44';

/** An id of Langfuse as one of ours. */
export function ownId(projectId: string, text: string): string {
  return idFrom('langfuse', projectId, text);
}

/** The span that stands for a trace of Langfuse, which has a name, an input and an output of its own. */
export function traceSpanId(traceId: string): string {
  return uuidFrom(traceId, TRACE_SPANS);
}

/** The session that a query names as `sessionId`; undefined: it names none. @throws DomainError `invalid` */
export function askedSession(sessionId: string | undefined): string | undefined {
  if (sessionId === undefined) return undefined;
  const session = sessionNamed(sessionId);
  if (session === null)
    throw invalid([{ pointer: '?sessionId', detail: 'must not be the UUID of zeros: no session has it' }]);
  return session.id;
}
