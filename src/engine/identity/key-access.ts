import { DomainError } from '../errors.js';

/** Purpose of a call: to learn what the key is, to read, to send spans, traces or sessions, or to change anything else. */
export type CallPurpose = 'identify' | 'read' | 'ingest' | 'change';

interface Access {
  readonly purposes: readonly CallPurpose[];
  /** Calls that a key of this access may make, in words. */
  readonly may: string;
}

/** Calls that API keys may make, by the name of their access. */
const ACCESSES = {
  full: { purposes: ['identify', 'read', 'ingest', 'change'], may: 'do everything' },
  read: { purposes: ['identify', 'read'], may: 'only read (GET)' },
  ingest: { purposes: ['identify', 'ingest'], may: 'only send spans, traces and sessions (POST, OTLP)' },
} as const satisfies Readonly<Record<string, Access>>;

export type KeyAccess = keyof typeof ACCESSES;

export const KEY_ACCESSES = Object.keys(ACCESSES) as KeyAccess[];
export const DEFAULT_KEY_ACCESS: KeyAccess = 'full';

/** @throws DomainError `forbidden`, which names what the key may do */
export function requirePurpose({ access }: { readonly access: KeyAccess }, purpose: CallPurpose): void {
  const { purposes, may }: Access = ACCESSES[access];
  if (!purposes.includes(purpose))
    throw new DomainError('forbidden', `This API key has "${access}" access: it may ${may}`);
}

/** Whether a call may be answered with more than its caller sent. */
export function mayRead({ access }: { readonly access: KeyAccess }): boolean {
  const { purposes }: Access = ACCESSES[access];
  return purposes.includes('read');
}

/** Whether a key may make calls that change something. */
export function mayChange({ access }: { readonly access: KeyAccess }): boolean {
  const { purposes }: Access = ACCESSES[access];
  return purposes.includes('change');
}

/** Calls that a key of an access may make, in words. */
export function explainAccess(access: KeyAccess): string {
  return `may ${ACCESSES[access].may}`;
}

/** One line that explains every access. */
export const KEY_ACCESS_EXPLAINED = KEY_ACCESSES.map((access) => `\`${access}\`: ${explainAccess(access)}`).join('; ');
