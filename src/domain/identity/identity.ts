import type { Micros } from '../span/span.js';
import type { KeyAccess } from './key-access.js';

/** On whose behalf a request runs: everything it reads and writes is inside `project_id`. */
export interface Principal {
  readonly project_id: string;
  readonly user_id: string;
  readonly key_id: string;
  /** What the key may do. */
  readonly access: KeyAccess;
}

export interface User {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly created_at: Micros;
}

export interface Project {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
}

/** What may be shown of an API key at any time. */
export interface ApiKey {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly name: string;
  /** The first characters of the key, to tell keys apart. */
  readonly prefix: string;
  readonly access: KeyAccess;
  readonly created_at: Micros;
  /** Exact to about a minute. */
  readonly last_used_at: Micros | null;
  readonly revoked_at: Micros | null;
}

/** A key together with its SHA-256 (32 bytes), as it is stored. */
export interface StoredApiKey extends ApiKey {
  readonly hash: Buffer;
}

/** The answer to a creation: the only time the key itself is there. */
export interface CreatedApiKey extends ApiKey {
  readonly key: string;
}
