import type { Principal } from './identity.js';
import type { KeyAccess } from './key-access.js';

/** What people and programs did that is asked about afterwards. */
export type AuditEvent =
  | 'signedIn'
  | 'signedOut'
  | 'signInEnded'
  | 'personInvited'
  | 'keyMade'
  | 'keyRevoked'
  | 'projectMade'
  | 'projectDeleted'
  | 'spanDeleted'
  | 'traceDeleted'
  | 'sessionDeleted'
  | 'retentionChanged'
  | 'priceSet'
  | 'priceRemoved'
  | 'judgeMade'
  | 'judgeChanged'
  | 'judgeDeleted'
  | 'tagMoved'
  | 'tagRemoved'
  | 'linkMade'
  | 'linkChanged'
  | 'linkRevoked'
  | 'metadataImported';

/** Who did it; null: the server itself, or a command on its machine. */
export type Actor = Pick<Principal, 'user_id' | 'key_id' | 'sign_in_id'> | null;

/** Something that was done, by ids alone: whoever reads the log learns no text, name or secret. */
export interface AuditRecord {
  readonly event: AuditEvent;
  readonly by: Actor;
  readonly project_id: string;
  /** What it was done to; absent: the project, or something of it that has no id. */
  readonly subject_id?: string;
  /** Of the key that was made. */
  readonly access?: KeyAccess;
  readonly retention_days?: number | null;
  /** Which part of an export was imported (its name in the path), and how many records of it. */
  readonly part?: string;
  readonly stored?: number;
  /** What was signed in with. */
  readonly with?: 'key' | 'link';
  /** How many projects a sign-in opens; `project_id` is the first. */
  readonly projects?: number;
  /** The network that somebody signed in from. */
  readonly address?: string;
}

/** Where services tell what was done, once it is. */
export interface AuditLog {
  done(record: AuditRecord): void;
}

/** For programs without a log. */
export const NO_AUDIT_LOG: AuditLog = { done: () => undefined };
