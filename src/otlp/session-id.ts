import { v5 as uuidv5 } from 'uuid';
import { NIL_UUID, UUID, uuidOf } from '../engine/schema/ids.js';

/** A session as applications name theirs. */
export interface NamedSession {
  readonly id: string;
  /** What it was called, where that is no UUID. */
  readonly name: string | null;
}

/** The session that a text names: a UUID as it is, any other text by the UUID that is made of it. Null: it names none. */
export function sessionNamed(text: string): NamedSession | null {
  const lower = text.toLowerCase();
  if (lower === NIL_UUID) return null;
  const stated = uuidOf(lower);
  return UUID.test(stated) ? { id: stated, name: null } : { id: uuidv5(text, uuidv5.DNS), name: text };
}
