import { isReading, SCOPE_NAMES, type Scope } from './scopes.js';

interface Access {
  readonly scopes: readonly Scope[];
  /** What it is for, in words. */
  readonly may: string;
}

/** Sets of scopes with a name, for those who make keys. */
const ACCESSES = {
  full: { scopes: SCOPE_NAMES, may: 'do everything' },
  read: { scopes: SCOPE_NAMES.filter((scope) => isReading(scope) && scope !== 'audit:read'), may: 'only read' },
  ingest: { scopes: ['spans:write', 'scores:write'], may: 'only send spans, traces, sessions and scores' },
  application: {
    scopes: ['spans:write', 'scores:write', 'feedback:write', 'prompts:read'],
    may: 'send spans, scores and feedback, and read prompts',
  },
  ci: {
    scopes: [
      ...(['spans:read', 'spans:write', 'scores:read', 'scores:write', 'prompts:read'] as const),
      ...(['judges:read', 'judges:write', 'datasets:read', 'datasets:write'] as const),
    ],
    may: 'run experiments and judges, change datasets, and read prompts and spans',
  },
} as const satisfies Readonly<Record<string, Access>>;

/** Name of a set of scopes that a key can be made with. */
export type KeyAccess = keyof typeof ACCESSES;
/** What a key's scopes are called. */
export type AccessName = KeyAccess | 'custom';

export const KEY_ACCESSES = Object.keys(ACCESSES) as KeyAccess[];
export const ACCESS_NAMES: readonly AccessName[] = [...KEY_ACCESSES, 'custom'];
export const DEFAULT_KEY_ACCESS: KeyAccess = 'full';

/** The scopes of a key of this access, in the order of {@link SCOPE_NAMES}. */
export function scopesOf(access: KeyAccess): readonly Scope[] {
  return inOrder(ACCESSES[access].scopes);
}

/** Scopes without repetitions, in the order in which they are shown. */
export function inOrder(scopes: readonly Scope[]): readonly Scope[] {
  const given = new Set(scopes);
  return SCOPE_NAMES.filter((scope) => given.has(scope));
}

/** What some scopes are called. */
export function accessOf(scopes: readonly Scope[]): AccessName {
  const wanted = inOrder(scopes).join(' ');
  return KEY_ACCESSES.find((access) => scopesOf(access).join(' ') === wanted) ?? 'custom';
}

/** Calls that a key of an access may make, in words. */
export function explainAccess(access: AccessName): string {
  return access === 'custom' ? 'may do what its scopes say' : `may ${ACCESSES[access].may}`;
}

/** One line that explains every access. */
export const KEY_ACCESS_EXPLAINED = KEY_ACCESSES.map((access) => `\`${access}\`: ${explainAccess(access)}`).join('; ');
