import type { AuditEntryRead } from '../../features/audit/schema.js';

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
