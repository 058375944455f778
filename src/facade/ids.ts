import { v5 as uuidFrom } from 'uuid';
import { ID, NIL_UUID, uuidOf } from '../engine/schema/ids.js';

/** Names the ids that are made of ids which are no UUIDs. */
const NAMESPACE = 'f2a04d0e-6a35-4d4c-9a1c-1c8f2f4c6a57';

/** Longest id of a client, in characters. */
export const MAX_ID = 4096;

/** Systems whose clients are served. */
export type Vendor = 'langfuse' | 'langsmith';

/** An id of another system as one of ours: a UUID, or hex digits of OpenTelemetry, as it is; of any other text a UUID is made. */
export function idFrom(vendor: Vendor, projectId: string, text: string): string {
  const stated = ID.test(text) ? uuidOf(text) : NIL_UUID;
  return stated === NIL_UUID ? madeId(vendor, projectId, text) : stated;
}

/** The UUID that is made of a text. */
export function madeId(vendor: Vendor, projectId: string, ...text: readonly string[]): string {
  return uuidFrom(JSON.stringify([projectId, vendor, ...text]), NAMESPACE);
}
