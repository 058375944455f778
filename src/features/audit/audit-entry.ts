import type { Window } from '../../engine/schema/page.js';
import type { AuditAction } from '../../engine/identity/audit-actions.js';
import type { AuditChange } from '../../engine/signals/catalog/audit.js';
import type { Micros } from '../../engine/timestamp.js';

/** Who did something: a person in the console, a program with a key, a command on the server's machine, or the server by itself. */
export const ACTORS = ['person', 'key', 'command', 'server'] as const;
export type ActorKind = (typeof ACTORS)[number];

/** Something that was done, as it is stored. */
export interface AuditDraft {
  /** Null: it is of the server's own log, which outlasts the project. */
  readonly project_id: string | null;
  readonly created_at: Micros;
  readonly action: AuditAction;
  readonly actor: ActorKind;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly sign_in_id: string | null;
  readonly object_id: string | null;
  readonly object_name: string | null;
  readonly changes: readonly AuditChange[];
  readonly address: string | null;
  readonly request_id: string | null;
}

/** An entry of the audit log. */
export interface AuditEntry extends AuditDraft {
  /** Grows by one from entry to entry of a project. */
  readonly number: number;
  /** As of now; null: unknown, or erased. */
  readonly user_name: string | null;
  readonly key_name: string | null;
}

/** Which entries are wanted; null: all. */
export interface AuditFilter {
  readonly action: AuditAction | null;
  /** The kind of the object, which actions begin with. */
  readonly objectType: string | null;
  readonly objectId: string | null;
  readonly actor: ActorKind | null;
  /** Id of a person or of a key. */
  readonly actorId: string | null;
  readonly start: Micros | null;
  readonly end: Micros | null;
}

/** Entries of which log; null: those of the server itself. */
export interface AuditSelection {
  readonly projectId: string | null;
  readonly filter: AuditFilter;
}

/** Keeps entries. Throws DomainError `unavailable`. */
export interface AuditStore {
  /** Stores an entry, and drops the oldest ones of the log where it has more than that. */
  add(entry: AuditDraft, most: number): void;
  /** Runs `change` as one transaction: all that is written meanwhile is kept, or nothing. */
  together<T>(change: () => T): T;
  page(
    of: AuditSelection,
    window: Window,
    descending: boolean,
  ): { readonly entries: AuditEntry[]; readonly total: number };
  /** Entries with smaller numbers, the newest first. @param before null: of all */
  before(of: AuditSelection, before: number | null, limit: number): AuditEntry[];
  /** Removes some of the entries that are older, except for the newest of each log. @returns whether there may be more */
  forgetSome(before: Micros): boolean;
}
