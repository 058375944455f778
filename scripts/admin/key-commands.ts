import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ApiKey } from '../../src/engine/identity/identity.js';
import type { IdentityService } from '../../src/engine/identity/identity-service.js';
import { DEFAULT_KEY_ACCESS, KEY_ACCESSES, type KeyAccess } from '../../src/engine/identity/key-access.js';
import { SCOPE_NAMES, type Scope } from '../../src/engine/identity/scopes.js';
import { DomainError } from '../../src/engine/errors.js';
import { parseTimestamp } from '../../src/engine/timestamp.js';
import type { Row } from '../output.js';
import type { Rows } from './answer.js';

interface CreateOptions {
  readonly project?: string;
  readonly user?: string;
  readonly name: string;
  readonly access?: KeyAccess;
  readonly scopes?: readonly Scope[];
  readonly expires?: number;
}

interface Parts {
  run(work: (identity: IdentityService) => Rows, none?: string): Promise<void>;
  /** @returns the given id, else that of the only one */
  onlyOne(what: string, given: string | undefined, all: readonly { id: string }[]): string;
}

/** Commands about API keys. */
export function addKeyCommands(program: Command, { run, onlyOne }: Parts): void {
  program
    .command('create-key')
    .description('create an API key; it is shown only once')
    .option('--project <id>', 'project of the key (required if there is more than one: see list-projects)')
    .option('--user <id>', 'user of the key (required if there is more than one: see list-users)')
    .option('--name <name>', 'name of the key, such as its purpose', 'admin')
    .addOption(
      new Option('--access <access>', `access level of the key (default: "${DEFAULT_KEY_ACCESS}")`).choices(
        KEY_ACCESSES,
      ),
    )
    .addOption(
      new Option(
        '--scopes <scopes>',
        `scopes instead of an access level, separated by commas: ${SCOPE_NAMES.join(', ')}`,
      )
        .argParser(scopesIn)
        .conflicts('access'),
    )
    .option('--expires <time>', 'when the key expires, such as 2030-01-31 (default: never)', timeIn)
    .action(({ project, user, expires, ...rest }: CreateOptions) =>
      run((identity) => {
        const projectId = onlyOne('project', project, identity.listProjects());
        const userId = onlyOne('user', user, identity.listUsers());
        return shown(identity.createKey({ projectId, userId, expiresAt: expires ?? null, ...rest }));
      }),
    );

  program
    .command('list-keys')
    .description('list the keys that are not revoked')
    .option('--project <id>', 'list only keys of this project')
    .action(({ project }: { project?: string }) =>
      run(
        (identity) => identity.listKeys(project?.toLowerCase() ?? null).map(keyRow),
        'There is no key yet: create one with create-key',
      ),
    );

  program
    .command('rotate-key')
    .description('create a key like another one, which expires after an overlap; the new key is shown only once')
    .argument('<key-id>', 'id of the key to replace (see list-keys)')
    .option('--overlap <seconds>', 'for how long the old key is still accepted', secondsIn, 86_400)
    .action((given: string, { overlap }: { overlap: number }) =>
      run((identity) => {
        const keyId = given.toLowerCase();
        const old = identity.listKeys(null).find(({ id }) => id === keyId);
        if (old === undefined) throw new DomainError('not_found', 'There is no API key with this id');
        return shown(identity.rotateKey({ projectId: old.project_id, keyId, overlap: overlap * 1e6 }, null));
      }),
    );

  program
    .command('revoke-key')
    .description('permanently revoke a key')
    .argument('<key-id>', 'id of the key (see list-keys)')
    .action((keyId: string) =>
      run((identity) => {
        identity.revokeKey(null, keyId);
        return { id: keyId.toLowerCase(), revoked: true };
      }),
    );
}

function scopesIn(text: string): Scope[] {
  const named = text.split(',').map((name) => name.trim());
  const known = SCOPE_NAMES.filter((scope) => named.includes(scope));
  const unknown = named.filter((name) => !SCOPE_NAMES.some((scope) => scope === name));
  if (unknown.length > 0) throw new InvalidArgumentError(`Allowed scopes are ${SCOPE_NAMES.join(', ')}.`);
  return known;
}

function timeIn(text: string): number {
  const at = parseTimestamp(text);
  if (at === undefined) throw new InvalidArgumentError('It must be a time in ISO 8601.');
  return at;
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,8}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds.');
  return seconds;
}

function shown(key: ApiKey & { readonly key: string }): Row {
  return { key: key.key, ...keyRow(key) };
}

function keyRow(key: ApiKey): Row {
  const { id, name, prefix, access, scopes, project_id, user_id, created_at, expires_at, last_used_at } = key;
  return {
    ...{ id, name, prefix, access },
    ...(access === 'custom' ? { scopes: scopes.join(' ') } : {}),
    ...{ project_id, user_id },
    created_at: iso(created_at),
    expires_at: expires_at === null ? null : iso(expires_at),
    ...(key.rotated_at === null ? {} : { rotated_at: iso(key.rotated_at) }),
    last_used_at: last_used_at === null ? null : iso(last_used_at),
    last_used_from: key.last_used_from,
  };
}

function iso(micros: number): string {
  return new Date(micros / 1000).toISOString();
}
