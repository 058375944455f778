import { UUID } from '../../engine/schema/ids.js';
import { isAbove, ROLE_NAMES, type Role } from '../../engine/identity/roles.js';
import type { GroupRoles } from '../../engine/identity/external-sign-in-service.js';

/** What groups of the provider give: by group, by project, a role. */
export type RolesByGroup = ReadonlyMap<string, GroupRoles>;

/** Everyone whom the provider lets in is in this group. */
const EVERYBODY = '*';
const MAX_GROUPS = 1_000;
const MAX_PROJECTS = 1_000;

/** Reads such as `{"engineering": {"<project id>": "member"}}`. @throws Error that says what is wrong, after "must" */
export function parseGroupRoles(text: string): RolesByGroup {
  const groups = entriesOf(parsed(text), MAX_GROUPS);
  return new Map(
    groups.map(([group, projects]) => [
      group,
      new Map(
        entriesOf(projects, MAX_PROJECTS).map(([id, role]) => {
          const projectId = id.toLowerCase();
          if (!UUID.test(projectId)) throw new Error(`name projects by their ids, not "${id.slice(0, 100)}"`);
          const known = ROLE_NAMES.find((name) => name === role);
          if (known === undefined) throw new Error(`name one of the roles ${ROLE_NAMES.join(', ')} for each project`);
          return [projectId, known];
        }),
      ),
    ]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('be JSON such as {"engineering": {"<project id>": "member"}}');
  }
}

function entriesOf(value: unknown, most: number): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('be an object by groups, of objects by project ids');
  const entries = Object.entries(value);
  if (entries.length > most) throw new Error(`have at most ${most} entries`);
  return entries;
}

/** In each project, the highest role of those that some groups give. */
export function rolesOfGroups(byGroup: RolesByGroup, groups: readonly string[]): GroupRoles {
  const roles = new Map<string, Role>();
  for (const group of new Set([EVERYBODY, ...groups]))
    for (const [projectId, role] of byGroup.get(group) ?? [])
      if (isAbove(role, roles.get(projectId) ?? null)) roles.set(projectId, role);
  return roles;
}

/** The groups that a claim names: a list, or one name. */
export function namesIn(claim: unknown): string[] {
  const names: unknown[] = Array.isArray(claim) ? claim.slice(0, MAX_GROUPS) : [claim];
  return names.filter((name) => typeof name === 'string');
}
