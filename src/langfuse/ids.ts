import { v5 as uuidFrom } from 'uuid';
import { ID, NIL_UUID, uuidOf } from '../engine/schema/ids.js';

/** Names the ids that are made of ids which are no UUIDs. */
const NAMESPACE = 'f2a04d0e-6a35-4d4c-9a1c-1c8f2f4c6a57';
/** Names the spans that stand for traces. */
const TRACE_SPANS = '7c2d0a63-0d52-4f0f-8f3e-0b8f6a1d9e44';

/** Longest id of a client, in characters. */
export const MAX_ID = 4096;

/** An id of Langfuse as one of ours: a UUID, or hex digits of OpenTelemetry, as it is; of any other text a UUID is made. */
export function ownId(projectId: string, text: string): string {
  const stated = ID.test(text) ? uuidOf(text) : NIL_UUID;
  return stated === NIL_UUID ? uuidFrom(JSON.stringify([projectId, 'langfuse', text]), NAMESPACE) : stated;
}

/** The span that stands for a trace of Langfuse, which has a name, an input and an output of its own. */
export function traceSpanId(traceId: string): string {
  return uuidFrom(traceId, TRACE_SPANS);
}
