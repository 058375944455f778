import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig, publicUrl } from '../../src/config/config.js';
import { DomainError } from '../../src/engine/errors.js';
import { AuditTrail } from '../../src/features/audit/audit-trail.js';
import type { User } from '../../src/engine/identity/identity.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { addKeyCommands } from './key-commands.js';
import { addPeopleCommands } from './people-commands.js';
import { signInUrl } from '../../src/engine/identity/sign-in.js';
import { SignInService } from '../../src/engine/identity/sign-in-service.js';
import { transferCommands } from '../transfer/commands.js';
import { metadataFile, openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { fieldsOf, jsonOf, printFailure, printList, type Row } from '../output.js';
import type { Rows } from './answer.js';
import { auditRows } from './audit.js';
import { addBackupCommands } from './backup-commands.js';
import { addCheckCommand } from './check.js';
import { addEraseCommand } from './erase-command.js';
import { addMoveCommand } from './move-command.js';
import { addRecoverLogCommand } from './recover-log.js';
import { storageReport } from './storage.js';
import { trustClock } from './trust-clock.js';

interface GlobalOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
}

type Work = (identity: IdentityService, metadata: MetadataStore, audit: AuditTrail) => Rows | Promise<Rows>;

/** Manages the keys, projects and users of a DATA_DIR on this machine. @param name how it was called, for its help */
export function adminCommand(name: string): Command {
  const program = new Command(name)
    .description(
      'Manages API keys, projects, users, backups and moves in the DATA_DIR of a Spanhouse server, and checks ' +
        'stored data. Changes take effect immediately, even while the server runs.',
    )
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print JSON, for programs')
    .option('--data-dir <path>', "directory of the server's data (default: the environment variable DATA_DIR)");
  const dataDir = () => resolve(program.opts<GlobalOptions>().dataDir ?? loadConfig().dataDir);
  const run = (work: Work, none?: string) => printRows(program.opts<GlobalOptions>(), work, { create: false, none });
  /** Also where no data is yet. */
  const runOrCreate = (work: Work) => printRows(program.opts<GlobalOptions>(), work, { create: true });

  addKeyCommands(program, { run, onlyOne });
  addPeopleCommands(program, { run, onlyOne });

  program
    .command('signin')
    .description('print a single-use URL, valid for one hour, that signs a user in to the console')
    .option('--user <name>', 'name or id of the user (required if there is more than one: see list-users)')
    .option('--project <id>', 'project to sign in to (default: all projects for which the user has a key)')
    .action(({ user, project }: { user?: string; project?: string }) =>
      run((identity, metadata, audit) => {
        const userId = userCalled(user, identity.listUsers());
        const newKeyIn = () => onlyOne('project', project, identity.listProjects());
        const signIns = new SignInService({ store: metadata.signIns, identity, audit });
        const { code, expires_at } = signIns.makeCode(userId, project?.toLowerCase() ?? null, newKeyIn);
        const url = signInUrl(metadata.signIns.address() ?? addressToBe(), code);
        return { url, expires_at: iso(expires_at) };
      }),
    );

  program
    .command('create-project')
    .description('create a project')
    .argument('<name>', 'name of the project')
    .option('--id <uuid>', 'id of the project (default: a new one)')
    .action((name: string, { id }: { id?: string }) =>
      runOrCreate((identity) => timed(identity.createProject({ name, ...(id === undefined ? {} : { id }) }))),
    );

  program
    .command('list-projects')
    .description('list the projects')
    .action(() => run((identity) => identity.listProjects().map(timed), noneYet('project')));

  program
    .command('retention')
    .description('preview what retention removes from a project, or set how long it keeps traces')
    .option('--project <id>', 'project (required if there is more than one: see list-projects)')
    .option('--days <days>', 'number of days to keep traces; `forever`: no limit')
    .option('--set', 'set it; without this option, nothing is changed')
    .action(({ project, days, set }: { project?: string; days?: string; set?: true }) =>
      run(async (identity, metadata, audit) => {
        const { daysOf, forecast, setRetention } = await import('./retention.js');
        const projectId = onlyOne('project', project, identity.listProjects());
        const wanted = days === undefined ? undefined : daysOf(days);
        if (set === true) return timed(setRetention(metadata, audit, projectId, wanted));
        return forecast(dataDir(), projectId, wanted);
      }),
    );

  program
    .command('trust-clock')
    .description(
      'confirm that the clock of this machine is right, so that retention resumes; without --today, show the clock',
    )
    .option('--today <date>', "today's date, such as 2026-01-31, from a clock other than that of this machine")
    .action(({ today }: { today?: string }) => run((_identity, { clock }) => trustClock(clock, today)));

  program
    .command('delete-project')
    .description('permanently delete a project and everything in it')
    .argument('<project-id>', 'id of the project (see list-projects)')
    .action((given: string) =>
      run((_identity, { deletions }, audit) => {
        const id = given.toLowerCase();
        audit.together(() => {
          if (deletions.orderProject(id, Date.now() * 1000) === null)
            throw new DomainError('not_found', 'There is no project with this id');
          audit.done({ event: 'projectDeleted', by: null, project_id: id });
        });
        return {
          id,
          deletion: 'ordered',
          note:
            'Its keys and feedback links are refused from now on. A running server deletes the rest within seconds; if ' +
            'none runs, the next start deletes it first.',
        };
      }),
    );

  program
    .command('audit')
    .description('print the newest entries of the audit log: who did what')
    .option('--project <id>', 'project (default: the log of the server itself, which has deleted projects)')
    .option('--limit <entries>', 'how many entries to print', '100')
    .action(({ project, limit }: { project?: string; limit: string }) =>
      run((_identity, { audit }) => auditRows(audit, project?.toLowerCase() ?? null, limit), 'No entries yet'),
    );

  program
    .command('create-user')
    .description('create a user')
    .argument('<name>', 'name of the user')
    .option('--email <email>', 'email address of the user')
    .action((name: string, { email }: { email?: string }) =>
      runOrCreate((identity) => timed(identity.createUser({ name, email: email ?? null }))),
    );

  program
    .command('storage')
    .description('show what uses disk space, and how long the disks last at the rate of the last day')
    .action(() =>
      run((_identity, { measurements }) => storageReport(measurements, program.opts<GlobalOptions>().json === true)),
    );

  program
    .command('list-users')
    .description('list the users')
    .action(() => run((identity) => identity.listUsers().map(timed), noneYet('user')));

  const runOn = (work: (dataDir: string) => ReturnType<Work>, none?: string) =>
    printed(
      program.opts<GlobalOptions>(),
      (dataDir) => {
        // Files written are readable by this user alone, as those of the server.
        process.umask(0o077);
        return work(dataDir);
      },
      none,
    );
  addBackupCommands(program, runOn);
  addMoveCommand(program, runOn);
  addEraseCommand(program, runOn);
  addRecoverLogCommand(program, runOn);
  addCheckCommand(program, () => ({ json: program.opts<GlobalOptions>().json === true, dataDir: dataDir() }));
  for (const command of transferCommands()) program.addCommand(command.copyInheritedSettings(program));
  return program;
}

interface Printing {
  /** Whether data is made where none is. */
  readonly create: boolean;
  readonly none?: string | undefined;
}

function printRows(options: GlobalOptions, work: Work, { create, none }: Printing): Promise<void> {
  const guarded = (dataDir: string) => {
    if (!create && !existsSync(metadataFile(dataDir)))
      throw new DomainError('not_found', `No Spanhouse data in ${dataDir}; set DATA_DIR to the folder of the server`);
    return withIdentity(dataDir, work);
  };
  return printed(options, guarded, none);
}

async function printed(
  { json, dataDir: given }: GlobalOptions,
  work: (dataDir: string) => ReturnType<Work> | Promise<ReturnType<Work>>,
  none = 'There is nothing to list',
): Promise<void> {
  try {
    const rows = await work(resolve(given ?? loadConfig().dataDir));
    if (isList(rows)) printList(rows, { json: json === true, none });
    else process.stdout.write(json === true ? jsonOf(rows) : fieldsOf(rows));
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  }
}

/** `Array.isArray` knows no arrays that cannot be changed. */
function isList(rows: Rows): rows is readonly Row[] {
  return Array.isArray(rows);
}

function noneYet(what: string): string {
  return `There is no ${what} yet: create one with create-${what}`;
}

async function withIdentity(dataDir: string, work: Work): Promise<Rows> {
  // Files written are readable by this user alone, as those of the server.
  process.umask(0o077);
  const metadata = openMetadataStore(dataDir);
  try {
    const audit = new AuditTrail({ store: metadata.audit, tell: () => undefined, self: 'command' });
    const identity = new IdentityService({ store: metadata.identities, audit });
    try {
      return await work(identity, metadata, audit);
    } finally {
      identity.close();
    }
  } finally {
    metadata.close();
  }
}

function onlyOne(what: string, given: string | undefined, all: readonly { id: string }[]): string {
  if (given !== undefined) return given.toLowerCase();
  const [first, second] = all;
  if (first === undefined) throw new DomainError('not_found', noneYet(what));
  if (second !== undefined)
    throw new DomainError('invalid', `There is more than one ${what}: name it with --${what} (see list-${what}s)`);
  return first.id;
}

/** @returns id of the user that is named by name or id */
function userCalled(given: string | undefined, users: readonly User[]): string {
  if (given === undefined) return onlyOne('user', given, users);
  const [first, second] = users.filter(({ id, name }) => name === given || id === given.toLowerCase());
  if (first === undefined) throw new DomainError('not_found', `There is no user ${given} (see list-users)`);
  if (second !== undefined)
    throw new DomainError('invalid', `More than one user is called ${given}: use an id instead (see list-users)`);
  return first.id;
}

/** Where a server will be that has not started yet. */
function addressToBe(): string {
  const { http } = loadConfig();
  return publicUrl(http, http.port);
}

function timed(row: { readonly created_at: number }): Row {
  return { ...row, created_at: iso(row.created_at) };
}

function iso(micros: number): string {
  return new Date(micros / 1000).toISOString();
}
