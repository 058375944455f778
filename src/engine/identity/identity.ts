import type { RequestOrigin } from '../signals/catalog/audit.js';
import type { Micros } from '../timestamp.js';
import type { AccessName } from './key-access.js';
import type { Role } from './roles.js';
import type { Scope } from './scopes.js';

/** The project, user and key that a request acts for: everything it reads and writes is inside `project_id`. */
export interface Principal {
  readonly project_id: string;
  readonly user_id: string;
  readonly key_id: string;
  /** Scopes of the key that the role of its user has, too: they decide what calls it may make. */
  readonly scopes: ReadonlySet<Scope>;
  /** Role of the user in the project; null: the user is none of its people anymore. */
  readonly role: Role | null;
  /** The sign-in by which a person acts for the key; null: the request had the key itself. */
  readonly sign_in_id: string | null;
  /** The request that it makes, for the audit log. */
  readonly origin?: RequestOrigin;
}

/** Everything that a principal is, with names. */
export interface Identity {
  readonly user: Pick<User, 'id' | 'name'>;
  readonly project: Pick<Project, 'id' | 'name'>;
  readonly key: Pick<ApiKey, 'id' | 'name' | 'access' | 'scopes' | 'expires_at' | 'role'>;
}

export interface User {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly created_at: Micros;
}

/** Longest name of a user, a project or a key, in characters. */
export const MAX_NAME_LENGTH = 200;
/** A century: the longest that a project may say it keeps its traces. */
export const MAX_RETENTION_DAYS = 36_500;

export interface Project {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
  /** After how many days its traces go; null: they are kept for ever. */
  readonly retention_days: number | null;
}

/** What is to change of a project; what is absent stays. */
export type ProjectChange = Partial<Pick<Project, 'name' | 'retention_days'>>;

/** An API key without its secret, as it may be shown at any time. */
export interface ApiKey {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly name: string;
  /** The first characters of the key, to tell keys apart. */
  readonly prefix: string;
  /** What its scopes are called. */
  readonly access: AccessName;
  /** Those that it was made with, as far as its user's role has them; of one that stands for a person, those of the role. */
  readonly scopes: readonly Scope[];
  /** Whether it stands for a person who signs in: it was never shown. */
  readonly personal: boolean;
  /** Role of its user in the project; null: the user is none of its people. */
  readonly role: Role | null;
  readonly created_at: Micros;
  /** Time of last use, exact to about a minute. */
  readonly last_used_at: Micros | null;
  /** Address of the client that used it then; null: unknown. */
  readonly last_used_from: string | null;
  /** When it is refused; null: never. */
  readonly expires_at: Micros | null;
  /** When another key was made in its place; null: none was. */
  readonly rotated_at: Micros | null;
  readonly revoked_at: Micros | null;
}

/** A key with whom it acts for. */
export interface ListedApiKey extends ApiKey {
  readonly user_name: string;
}

/** A key together with its SHA-256 (32 bytes), as it is stored. */
export interface StoredApiKey extends ApiKey {
  readonly hash: Buffer;
}

/** The answer to a creation: the only time the key itself is there. */
export interface CreatedApiKey extends ApiKey {
  readonly key: string;
}
