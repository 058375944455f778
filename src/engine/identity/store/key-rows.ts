import type { ApiKey, StoredApiKey } from '../identity.js';
import { accessOf, inOrder, scopesOf, type AccessName, type KeyAccess } from '../key-access.js';
import { isReading, SCOPE_NAMES, type Scope } from '../scopes.js';

/** What says the scopes of a key in the SQLite file. */
export interface ScopeColumns {
  /** The column knows the three accesses of old. */
  readonly access: 'full' | 'read' | 'ingest';
  /** JSON; null: those of the access. */
  readonly scopes: string | null;
}

export type KeyRow<Key extends ApiKey = ApiKey> = Omit<Key, 'access' | 'scopes'> & ScopeColumns;

const OF_OLD: ReadonlySet<string> = new Set(['full', 'read', 'ingest'] satisfies KeyAccess[]);

function isOfOld(access: AccessName): access is ScopeColumns['access'] {
  return OF_OLD.has(access);
}

/** The columns of some scopes: a server that knows none of them opens little by the access. */
export function scopeColumns({ access, scopes }: Pick<ApiKey, 'access' | 'scopes'>): ScopeColumns {
  if (isOfOld(access)) return { access, scopes: null };
  return { access: scopes.every(isReading) ? 'read' : 'ingest', scopes: JSON.stringify(scopes) };
}

/** The scopes that columns say, with their name. A scope that is no longer known opens nothing. */
export function scopesOfColumns({ access, scopes }: ScopeColumns): Pick<ApiKey, 'access' | 'scopes'> {
  if (scopes === null) return { access, scopes: scopesOf(access) };
  const written = JSON.parse(scopes) as Scope[];
  const known = inOrder(written.filter((scope) => SCOPE_NAMES.includes(scope)));
  return { access: accessOf(known), scopes: known };
}

/** The row of a key. */
export function rowOfKey(key: StoredApiKey): KeyRow<StoredApiKey> {
  return { ...key, ...scopeColumns(key) };
}

/** The key of a row. */
export function keyOfRow<Row extends KeyRow>(
  row: Row,
): Omit<Row, 'access' | 'scopes'> & Pick<ApiKey, 'access' | 'scopes'> {
  return { ...row, ...scopesOfColumns(row) };
}
