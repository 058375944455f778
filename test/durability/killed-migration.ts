import childProcess, { type ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import BetterSqlite3 from 'better-sqlite3';
import { statementsIn } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';

/** Where a start is to die. */
export interface DeathPoint {
  readonly store: 'clickhouse' | 'sqlite';
  readonly version: number;
  /** Of the migration's statements, from 0; those of SQLite are run as one. */
  readonly statement: number;
  readonly moment: 'before' | 'during' | 'after';
  /** After the statement was sent, for `during`. */
  readonly delayMs?: number;
}

// Loaded into the server by `node --import`: it and its engine die, by SIGKILL, at the point of a migration that
// DEATH_POINT names.

const point = JSON.parse(process.env['DEATH_POINT'] ?? 'null') as DeathPoint | null;
const engines: ChildProcess[] = [];

function die(): Promise<never> {
  for (const engine of engines) engine.kill('SIGKILL');
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

if (point !== null) {
  const files = readMigrationFiles(schemaDirectory(point.store));
  const sqlOf = (version: number) => files[version - 1]?.sql ?? '';
  if (point.store === 'sqlite') dieInSqlite(sqlOf(point.version), point);
  else {
    const following = statementsIn(sqlOf(point.version + 1))[0];
    await dieInClickHouse(statementsIn(sqlOf(point.version))[point.statement] ?? '', following, point);
  }
}

function dieInSqlite(sql: string, { moment }: DeathPoint): void {
  const exec = BetterSqlite3.prototype.exec;
  BetterSqlite3.prototype.exec = function (source) {
    if (source === sql && moment === 'before') void die();
    const done = exec.call(this, source);
    // Within the transaction of the migration.
    if (source === sql) void die();
    return done;
  };
}

/** @param following where the next migration begins: a start goes no further, also when its own one was done before */
async function dieInClickHouse(
  statement: string,
  following: string | undefined,
  { moment, delayMs = 0 }: DeathPoint,
): Promise<void> {
  const { fork } = childProcess;
  childProcess.fork = ((...given: Parameters<typeof fork>) => {
    const engine = fork(...given);
    engines.push(engine);
    return engine;
  }) as typeof fork;
  syncBuiltinESMExports();
  const client = createClient();
  type Command = (this: unknown, params: { readonly query: string }) => Promise<unknown>;
  let owner = client as unknown as { command: Command };
  while (!Object.hasOwn(owner, 'command')) owner = Object.getPrototypeOf(owner) as { command: Command };
  const { command } = owner;
  owner.command = async function (params) {
    if (params.query === following) return die();
    if (params.query !== statement) return command.call(this, params);
    if (moment === 'before') return die();
    if (moment === 'during') void sleep(delayMs).then(die);
    const answer = await command.call(this, params);
    return moment === 'after' ? die() : answer;
  };
  await client.close();
}
