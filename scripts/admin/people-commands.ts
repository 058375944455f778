import { Option, type Command } from 'commander';
import { DomainError } from '../../src/engine/errors.js';
import type { IdentityService } from '../../src/engine/identity/identity-service.js';
import type { ListedMember } from '../../src/engine/identity/member-store.js';
import { ROLE_NAMES, type Role } from '../../src/engine/identity/roles.js';
import type { Row } from '../output.js';
import type { Rows } from './answer.js';

interface Parts {
  run(work: (identity: IdentityService) => Rows, none?: string): Promise<void>;
  /** @returns the given id, else that of the only one */
  onlyOne(what: string, given: string | undefined, all: readonly { id: string }[]): string;
}

interface Named {
  readonly project?: string;
  readonly user?: string;
}

/** More than a project has. */
const ALL = { limit: 10_000, offset: 0 };

/** Commands about the people of projects. */
export function addPeopleCommands(program: Command, { run, onlyOne }: Parts): void {
  const ids = (identity: IdentityService, { project, user }: Named) => ({
    projectId: onlyOne('project', project, identity.listProjects()),
    userId: onlyOne('user', user, identity.listUsers()),
  });
  const named = (command: Command) =>
    command
      .option('--project <id>', 'project (required if there is more than one: see list-projects)')
      .option('--user <id>', 'user (required if there is more than one: see list-users)');

  program
    .command('list-people')
    .description('list the people of a project and their roles')
    .option('--project <id>', 'project (required if there is more than one: see list-projects)')
    .action(({ project }: Named) =>
      run(
        (identity) => identity.members.list(onlyOne('project', project, identity.listProjects()), ALL).map(memberRow),
        'The project has no people yet: add one with set-role',
      ),
    );

  named(program.command('set-role'))
    .description('give a user a role in a project, also one who is none of its people yet')
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLE_NAMES).makeOptionMandatory())
    .action(({ role, ...options }: Named & { role: Role }) =>
      run((identity) => {
        const { projectId, userId } = ids(identity, options);
        const isNew = identity.members.roleOf(projectId, userId) === null;
        if (isNew) identity.members.admit(projectId, userId, role);
        return memberRow(identity.members.changeRole(projectId, userId, role, null));
      }),
    );

  named(program.command('remove-person'))
    .description('remove a user from a project: their keys of the project are revoked, and their sessions lose it')
    .action((options: Named) =>
      run((identity) => {
        const { projectId, userId } = ids(identity, options);
        if (identity.members.roleOf(projectId, userId) === null)
          throw new DomainError('not_found', 'The project has no person with this id (see list-people)');
        identity.members.remove(projectId, userId, null);
        return { project_id: projectId, user_id: userId, removed: true };
      }),
    );
}

function memberRow({ user_id, user_name, role, project_id, created_at, keys, sessions }: ListedMember): Row {
  return {
    user_id,
    name: user_name,
    role,
    project_id,
    keys,
    sessions,
    since: new Date(created_at / 1000).toISOString(),
  };
}
