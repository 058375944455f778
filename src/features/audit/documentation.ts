import { AUDIT_ACTIONS } from '../../engine/identity/audit-actions.js';
import type { AuditEvent } from '../../engine/signals/catalog/audit.js';

type Lines = Readonly<Record<AuditEvent, { readonly message: string; readonly when: string }>>;

/** Every action of the audit log as a Markdown table, for the manual. @param lines of the log, by their events */
export function auditTable(lines: Lines): string {
  const rows = AUDIT_ACTIONS.map(({ action, event }) => {
    const { message, when } = lines[event];
    return `| \`${action}\` | ${message}. ${when} | \`${event}\` |`;
  });
  return ['## Look up actions', '', '| action | what was done | event in the log |', '|---|---|---|', ...rows].join(
    '\n',
  );
}
