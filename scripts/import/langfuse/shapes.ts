import { unfolded, type Members } from '../members.js';

/** A thing of Langfuse as its API answers it, of which nothing is known but that it is an object. */
export type Thing = Members;

/** The name of a field of the blob export, as the API calls it. */
const RENAMED: Readonly<Record<string, string>> = { provided_model_name: 'model', trace_name: 'traceName' };
/** Fields of the blob export that hold objects as texts. */
const JSON_FIELDS = new Set(['modelParameters', 'metadata', 'usageDetails', 'costDetails', 'tags']);
const TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?)$/;

/** A row of the blob export as the API answers it. */
export function fromBlob(row: Members): Thing {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      const name = RENAMED[field] ?? field.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      return [name, JSON_FIELDS.has(name) ? unfolded(value) : withZone(value)];
    }),
  );
}

/** Times of the blob export are those of UTC. */
function withZone(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(TIME, '$1T$2Z') : value;
}
