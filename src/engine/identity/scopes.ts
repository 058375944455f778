import { DomainError } from '../errors.js';

/** What a call may need of the key that makes it, by name, and what each of it opens, in words. */
const SCOPES = {
  'spans:read': 'read spans, traces, sessions, completions and statistics',
  'spans:write': 'send spans, traces and sessions, also over OTLP',
  'scores:read': 'read scores and their definitions',
  'scores:write': 'send scores',
  'feedback:read': 'read feedback, comments and feedback links',
  'feedback:write': 'send feedback, comment, and change feedback links',
  'shares:read': 'read share links',
  'shares:write': 'share traces by links',
  'prompts:read': 'read prompts and optimizations, and estimate playground calls',
  'prompts:write': 'change prompts, run optimizations and the playground',
  'judges:read': 'read judges, their evaluations and calibration',
  'judges:write': 'change, run and calibrate judges',
  'datasets:read': 'read datasets, experiments and comparisons',
  'datasets:write': 'change datasets, run experiments and comparisons',
  'monitors:read': 'read monitors and webhooks',
  'monitors:write': 'change monitors and webhooks',
  'dashboards:read': 'read dashboards and saved views',
  'dashboards:write': 'change dashboards and saved views',
  'project:read': 'read the project: its settings, prices, keys and people',
  'audit:read': 'read the audit log',
  admin: 'read the audit log; change project, keys, people and prices; import, export, delete',
} as const satisfies Readonly<Record<string, string>>;

export type Scope = keyof typeof SCOPES;

/** What scopes open beside what they say. */
const IMPLIED: Partial<Readonly<Record<Scope, readonly Scope[]>>> = { admin: ['audit:read'] };

/** Scopes with those that they imply. */
export function withImplied(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.flatMap((scope) => [scope, ...(IMPLIED[scope] ?? [])]));
}

/** Every scope, in the order in which they are shown. */
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];

/** What a scope opens, in words. */
export function explainScope(scope: Scope): string {
  return SCOPES[scope];
}

/** Whether a call that needs this scope changes nothing. */
export function isReading(scope: Scope): boolean {
  return scope.endsWith(':read');
}

/** Whoever may make calls. */
export interface ScopeHolder {
  readonly scopes: ReadonlySet<Scope>;
  /** Of a person, what they are in the project. */
  readonly role?: string | null;
  /** The sign-in by which a person makes calls; null or absent: a program does, with a key. */
  readonly sign_in_id?: string | null;
}

/** @throws DomainError `forbidden`, which names what the key or the person lacks */
export function requireScopes(holder: ScopeHolder, needed: readonly Scope[]): void {
  for (const scope of needed)
    if (!holder.scopes.has(scope))
      throw lacking(
        holder,
        needed.filter((name) => !holder.scopes.has(name)),
      );
}

/** @throws DomainError `forbidden` when the key may read nothing */
export function requireSomeRead({ scopes }: ScopeHolder): void {
  if (![...scopes].some(isReading)) throw new DomainError('forbidden', 'This API key has no scope that reads');
}

/** Whether a call may be answered with more than its caller sent. */
export function mayRead({ scopes }: ScopeHolder): boolean {
  return scopes.has('spans:read');
}

/** Whether some call may change something. */
export function mayChange({ scopes }: ScopeHolder): boolean {
  return [...scopes].some((scope) => !isReading(scope));
}

/** A sentence about what a key lacks, or a person who signed in. */
export function lacks(scopes: readonly Scope[], { role = null, sign_in_id = null }: Partial<ScopeHolder> = {}): string {
  const who = sign_in_id === null || role === null ? 'This API key' : `Your role ${role}`;
  return `${who} lacks the scope${scopes.length > 1 ? 's' : ''} ${scopes.join(', ')}`;
}

function lacking(holder: ScopeHolder, missingScopes: readonly Scope[]): DomainError {
  return new DomainError('forbidden', lacks(missingScopes, holder), { missingScopes });
}
