import { v5 as uuidFrom } from 'uuid';

/** Names the ids that are made of what a source says. */
const NAMESPACE = '0b2f6f0c-6f0a-4b39-9d0b-0c1f0f5d8a41';

/** The same id for the same words, whenever they are read. */
export function idOf(...words: readonly string[]): string {
  return uuidFrom(JSON.stringify(words), NAMESPACE);
}
