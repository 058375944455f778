import { AUDIT_ACTIONS } from '../../engine/identity/audit-actions.js';
import type { AuditEvent } from '../../engine/signals/catalog/audit.js';

type Lines = Readonly<Record<AuditEvent, { readonly message: string; readonly when: string }>>;

const HEAD = [
  '## Look up actions',
  '',
  'Other names in the second column are fields of `changes`. The line of the server log has its `event`, and `object_id` as `subject_id`.',
  '',
  '| action | what was done | event in the server log |',
  '|---|---|---|',
];

/** Every action of the audit log as a Markdown table, for the manual. @param lines of the log, by their events */
export function auditTable(lines: Lines): string {
  const rows = AUDIT_ACTIONS.map(({ action, event }) => {
    const { message, when } = lines[event];
    // Readers of entries know the object by another name than readers of the log.
    return `| \`${action}\` | ${message}. ${when.replaceAll('subject_id', 'object_id')} | \`${event}\` |`;
  });
  return [...HEAD, ...rows].join('\n');
}
