import { scopesOf } from './key-access.js';
import { SCOPE_NAMES, type Scope } from './scopes.js';

interface RoleMeaning {
  readonly scopes: readonly Scope[];
  /** What it is for, in words. */
  readonly may: string;
}

const READING: readonly Scope[] = scopesOf('read');
const ANNOTATING: readonly Scope[] = [...READING, 'scores:write', 'feedback:write'];
const WORKING: readonly Scope[] = SCOPE_NAMES.filter((scope) => scope !== 'admin' && scope !== 'audit:read');

/** What someone may do in a project, each more than the one below it. */
const ROLES = {
  owner: { scopes: SCOPE_NAMES, may: 'do everything, also give and take the role owner' },
  admin: { scopes: SCOPE_NAMES, may: 'do everything, except for changing owners' },
  member: {
    scopes: WORKING,
    may: 'work with everything, but not change keys, people, prices or the project, or read the audit log',
  },
  annotator: {
    scopes: ANNOTATING,
    may: 'read everything except for the audit log, and give scores, feedback and corrections',
  },
  viewer: { scopes: READING, may: 'only read, and not the audit log' },
} as const satisfies Readonly<Record<string, RoleMeaning>>;

export type Role = keyof typeof ROLES;

/** Every role, the highest first. */
export const ROLE_NAMES = Object.keys(ROLES) as [Role, ...Role[]];

/** What an invitation gives that names no role. */
export const DEFAULT_ROLE: Role = 'member';

/** The scopes of a role, in the order of {@link SCOPE_NAMES}. */
export function scopesOfRole(role: Role): readonly Scope[] {
  const scopes: readonly Scope[] = ROLES[role].scopes;
  return SCOPE_NAMES.filter((scope) => scopes.includes(scope));
}

/** What a role is for, in words. */
export function explainRole(role: Role): string {
  return `may ${ROLES[role].may}`;
}

/** One line that explains every role. */
export const ROLES_EXPLAINED = ROLE_NAMES.map((role) => `\`${role}\`: ${explainRole(role)}`).join('; ');

/** Whether a role is higher than another one; null: none at all. */
export function isAbove(role: Role | null, other: Role | null): boolean {
  return rankOf(role) > rankOf(other);
}

function rankOf(role: Role | null): number {
  return role === null ? 0 : ROLE_NAMES.length - ROLE_NAMES.indexOf(role);
}

/** The lowest role that has some scopes. Two have all of them: an owner is only made on purpose. */
export function leastRole(scopes: readonly Scope[]): Role {
  const enough = ROLE_NAMES.filter((role) => scopes.every((scope) => scopesOfRole(role).includes(scope)));
  return enough.at(-1) ?? 'admin';
}
