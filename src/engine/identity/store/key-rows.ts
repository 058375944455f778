import type { ApiKey, StoredApiKey } from '../identity.js';
import { accessOf, inOrder, scopesOf, type AccessName, type KeyAccess } from '../key-access.js';
import { scopesOfRole, type Role } from '../roles.js';
import { isReading, SCOPE_NAMES, type Scope } from '../scopes.js';

/** What says the scopes of a key in the SQLite file. */
export interface ScopeColumns {
  /** The column knows the three accesses of old. */
  readonly access: 'full' | 'read' | 'ingest';
  /** JSON; null: those of the access. */
  readonly scopes: string | null;
}

/** What says them as it is read: no one's key has more than its user's role. */
export interface ScopesRead extends ScopeColumns {
  /** 1: those of the role, whatever the key was made with. */
  readonly personal: 0 | 1;
  readonly role: Role | null;
}

export type KeyRow<Key extends ApiKey = ApiKey> = Omit<Key, 'access' | 'scopes' | 'personal' | 'role'> & ScopesRead;

const OF_OLD: ReadonlySet<string> = new Set(['full', 'read', 'ingest'] satisfies KeyAccess[]);

function isOfOld(access: AccessName): access is ScopeColumns['access'] {
  return OF_OLD.has(access);
}

/** The columns of some scopes: a server that knows none of them opens little by the access. */
export function scopeColumns({ access, scopes }: Pick<ApiKey, 'access' | 'scopes'>): ScopeColumns {
  if (isOfOld(access)) return { access, scopes: null };
  return { access: scopes.every(isReading) ? 'read' : 'ingest', scopes: JSON.stringify(scopes) };
}

/** The scopes that columns say, with their name. */
export function scopesOfColumns({ personal, role, ...stated }: ScopesRead): Pick<ApiKey, 'access' | 'scopes'> {
  const ofRole = role === null ? [] : scopesOfRole(role);
  const scopes = personal === 1 ? ofRole : statedScopes(stated).filter((scope) => ofRole.includes(scope));
  return { access: accessOf(scopes), scopes };
}

/** A scope that is no longer known opens nothing. */
function statedScopes({ access, scopes }: ScopeColumns): readonly Scope[] {
  if (scopes === null) return scopesOf(access);
  const written = JSON.parse(scopes) as Scope[];
  return inOrder(written.filter((scope) => SCOPE_NAMES.includes(scope)));
}

/** The row of a key. */
export function rowOfKey({ role: _role, personal, ...key }: StoredApiKey): Omit<KeyRow<StoredApiKey>, 'role'> {
  return { ...key, ...scopeColumns(key), personal: personal ? 1 : 0 };
}

/** The key of a row. */
export function keyOfRow<Row extends KeyRow>(
  row: Row,
): Omit<Row, 'access' | 'scopes' | 'personal'> & Pick<ApiKey, 'access' | 'scopes' | 'personal'> {
  return { ...row, ...scopesOfColumns(row), personal: row.personal === 1 };
}
