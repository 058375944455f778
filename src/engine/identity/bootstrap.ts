/** Name of the key that a start makes. */
export const INITIAL_KEY = 'Initial key';

/** Project and key that a start ensures; null or absent: not asked for. */
export interface BootstrapRequest {
  readonly projectId?: string | null;
  readonly apiKey?: string | null;
}

export interface BootstrapResult {
  /** Project and key, and whose it is, made because the store was empty. `key` is null when the caller chose it. */
  readonly created: { readonly projectId: string; readonly userId: string; readonly key: string | null } | null;
  /** The init key exists but was revoked, and stays so: a revocation outlives a restart. */
  readonly initKeyRevoked: boolean;
  /** The project of the given key is being deleted: both can be made once that is done. */
  readonly initProjectGoing: boolean;
}
