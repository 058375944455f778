import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditLog } from '../../engine/identity/audit.js';
import { auditActionOf } from '../../engine/identity/audit-actions.js';
import type { Window } from '../../engine/schema/page.js';
import type { AuditChange, AuditRecord } from '../../engine/signals/catalog/audit.js';
import type { AuditDraft, AuditEntry, AuditFilter, AuditStore } from './audit-entry.js';

/** Most entries of a project: some 60 MB. The oldest go first. */
export const MAX_ENTRIES = 200_000;
/** Entries of an export that are read together. */
const EXPORTED_AT_ONCE = 500;

export interface AuditTrailParts {
  readonly store: AuditStore;
  /** Writes the line of the log. */
  readonly tell: (record: AuditRecord) => void;
  /** Who acts where no one does. */
  readonly self: 'server' | 'command';
  /** Entries of a log; default: {@link MAX_ENTRIES}. */
  readonly most?: number;
}

/**
 * The audit log: what was done is stored with the change itself, and becomes a line of the log once it is. What is told outside of
 * {@link together} is stored by itself.
 */
export class AuditTrail implements AuditLog {
  readonly #parts: AuditTrailParts;
  /** What is told once the transaction in progress is stored; null: there is none. */
  #untold: AuditRecord[] | null = null;

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  done(given: AuditRecord): void {
    const record = { ...given, audit: auditActionOf(given.event) };
    const { store, self, tell, most = MAX_ENTRIES } = this.#parts;
    store.add(draftOf(record, self), most);
    if (this.#untold === null) tell(record);
    else this.#untold.push(record);
  }

  together<T>(change: () => T): T {
    const outer = this.#untold;
    const untold: AuditRecord[] = [];
    this.#untold = untold;
    let result: T;
    try {
      result = this.#parts.store.together(change);
    } finally {
      this.#untold = outer;
    }
    if (outer === null) for (const record of untold) this.#parts.tell(record);
    else outer.push(...untold);
    return result;
  }

  /** A page of the entries of a project. @throws DomainError `unavailable` */
  list(
    projectId: string,
    filter: AuditFilter,
    window: Window,
    descending: boolean,
  ): { readonly entries: AuditEntry[]; readonly total: number } {
    return this.#parts.store.page({ projectId, filter }, window, descending);
  }

  /** All entries that match, the newest first, in pages. @param projectId null: of the server's own log */
  async *exported(projectId: string | null, filter: AuditFilter): AsyncGenerator<readonly AuditEntry[]> {
    for (let before: number | null = null; ;) {
      const entries: readonly AuditEntry[] = this.#parts.store.before({ projectId, filter }, before, EXPORTED_AT_ONCE);
      if (entries.length > 0) yield entries;
      if (entries.length < EXPORTED_AT_ONCE) return;
      before = entries.at(-1)?.number ?? null;
      await nextTurn();
    }
  }
}

function draftOf(record: AuditRecord, self: 'server' | 'command'): AuditDraft {
  const { event, by, project_id, subject_id, subject_name = null } = record;
  const ofServer = event === 'projectDeleted';
  return {
    project_id: ofServer ? null : project_id,
    created_at: Date.now() * 1000,
    action: auditActionOf(event),
    actor: by === null ? self : by.sign_in_id === null ? 'key' : 'person',
    user_id: by?.user_id ?? null,
    key_id: by?.key_id ?? null,
    sign_in_id: by?.sign_in_id ?? null,
    object_id: subject_id ?? ownIdOf(record),
    object_name: subject_name,
    changes: [...(record.changes ?? []), ...saidOf(record)],
    address: by?.origin?.address ?? null,
    request_id: by?.origin?.request_id ?? null,
  };
}

/** The object where a record names none: the project, or the session that begins or ends. */
function ownIdOf({ event, by, project_id }: AuditRecord): string | null {
  const action = auditActionOf(event);
  if (action.startsWith('project.')) return project_id;
  return action.startsWith('sign_in.') ? (by?.sign_in_id ?? null) : null;
}

/** What a record says beside its changes, as fields that are so now. */
function saidOf(record: AuditRecord): AuditChange[] {
  const { access, scopes, role, part, format, stored, found, with: by, projects, changes = [] } = record;
  const said = { access, scopes: scopes?.join(' '), role, part, format, stored, found, with: by, projects };
  const isChange = (field: string) => changes.some((change) => change.field === field);
  return Object.entries(said).flatMap(([field, to]) => (to === undefined || isChange(field) ? [] : [{ field, to }]));
}
