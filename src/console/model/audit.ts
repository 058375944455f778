import type { AuditEntryRead } from '../../features/audit/schema.js';

type ObjectOf<Action> = Action extends `${infer Name}.${string}` ? Name : never;

/** Kinds of objects that entries are about, in an order to choose from. */
export const AUDITED_OBJECTS = Object.keys({
  ...{ api_key: 0, person: 0, sign_in: 0, project: 0, prompt_version: 0, prompt_tag: 0, judge: 0 },
  ...{ dataset: 0, dataset_row: 0, experiment: 0, score: 0, score_definition: 0, feedback_link: 0, model_price: 0 },
  ...{ reprice: 0, span: 0, trace: 0, session: 0, deletion: 0, export: 0, scheduled_export: 0, records: 0 },
  ...{ masking: 0, model_budget: 0, monitor: 0, webhook: 0, comment: 0, share_link: 0, saved_view: 0, dashboard: 0 },
} satisfies Readonly<Record<ObjectOf<AuditEntryRead['action']>, 0>>);

type Actor = Pick<AuditEntryRead, 'actor' | 'user_id' | 'user_name' | 'key_name'>;

/** Who did something, in a few words. */
export function auditWho({ actor, user_id, user_name, key_name }: Actor): string {
  if (actor === 'command') return 'command on the server';
  if (actor === 'server') return 'server';
  const person = user_name ?? user_id ?? 'unknown';
  return actor === 'person' || key_name === null ? person : `${person} by key ${key_name}`;
}

/** What it was done to. */
export function auditObject(entry: Pick<AuditEntryRead, 'object_type' | 'object_name' | 'object_id'>): string {
  const { object_type, object_name, object_id } = entry;
  return [object_type.replaceAll('_', ' '), object_name ?? object_id ?? ''].join(' ').trim();
}

/** A field that changed: its values, as far as they are told. */
export function auditChange({ field, from, to }: AuditEntryRead['changes'][number]): string {
  if (from !== undefined && to !== undefined) return `${field}: ${String(from ?? 'none')} → ${String(to ?? 'none')}`;
  const value = to ?? from;
  return value === undefined ? field : `${field}: ${String(value ?? 'none')}`;
}
