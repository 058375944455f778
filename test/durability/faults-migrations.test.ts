import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { generateApiKey, hashApiKey } from '../../src/engine/identity/api-key.js';
import { createLogger } from '../../src/engine/signals/logger.js';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate as migrateClickHouse, statementsIn } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate as migrateSqlite } from '../../src/engine/metadata/migrations.js';
import { PROJECT_ID, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import type { DeathPoint } from './killed-migration.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { seedOf } from '../harness/seed.js';
import { statementOf } from '../harness/statement.js';

const PRELOAD = fileURLToPath(new URL('killed-migration.js', import.meta.url));
const SEED = seedOf('FAULT_SEED');
const DEATHS_EACH = 5;
const TRACES = 100;
const SPANS = 100;
const SESSIONS = 10;

describe(`a start that is killed in the middle of a migration, FAULT_SEED=${SEED}`, function () {
  // Two to eight starts of a server for each migration.
  this.timeout(900_000);
  const dice = new Random(SEED);
  let programs: Programs;

  afterEach(() => programs.dispose());

  async function dieAt(point: DeathPoint): Promise<void> {
    const env = { NODE_OPTIONS: `--import ${PRELOAD}`, DEATH_POINT: JSON.stringify(point) };
    const program = programs.spawn(env);
    const started = program.ready().then(
      () => null,
      () => program.ended,
    );
    const ended = await Promise.race([program.ended, started]);
    // A death while a statement of the last migration ran may have come after all of them.
    if (ended === null && point.moment === 'during' && point.version === newest(point.store)) return program.destroy();
    expect(ended, `${JSON.stringify(point)}: ${program.stderr}`).to.deep.equal({ code: null, signal: 'SIGKILL' });
  }

  it('of SQLite: nothing of it is kept, and the next start completes with all data from before', async () => {
    programs = await Programs.makeEmpty();
    const files = readMigrationFiles(schemaDirectory('sqlite'));
    const keys: string[] = [];
    const file = join(programs.dataDir, DATABASE_FILE);
    for (const { version } of files) {
      await dieAt({ store: 'sqlite', version, statement: 0, moment: 'before' });
      const before = withDatabase(file, (database) => {
        if (version > 1) keys.push(insertKey(database, version));
        return schemaOf(database);
      });
      await dieAt({ store: 'sqlite', version, statement: 0, moment: 'after' });
      expect(withDatabase(file, schemaOf), `after a death in migration ${version}`).to.deep.equal(before);
    }
    const program = await programs.start();
    for (const key of keys) {
      const { status } = await fetch(`${program.url}/spans`, { headers: { authorization: `Bearer ${key}` } });
      expect(status).to.equal(200);
    }
    await program.destroy();
    const copies = (await readdir(programs.dataDir)).filter((name) => name.includes('.before-'));
    expect(copies, 'of the last two upgrades').to.have.members(
      files.slice(-2).map(({ version }) => `${DATABASE_FILE}.before-${String(version).padStart(4, '0')}`),
    );
    const complete = withDatabase(':memory:', (database) => {
      migrateSqlite(database, files);
      return schemaOf(database);
    });
    withDatabase(file, (database) => {
      expect(schemaOf(database)).to.deep.equal(complete);
      expect(database.pragma('integrity_check', { simple: true })).to.equal('ok');
      expect(database.pragma('foreign_key_check')).to.deep.equal([]);
    });
  });

  it('of ClickHouse: the next start completes with all data from before, and every figure is exact @slow', async () => {
    programs = await Programs.makeEmpty();
    const files = readMigrationFiles(schemaDirectory('clickhouse'));
    for (const { version, sql } of files) {
      const store = 'clickhouse';
      if (version > 1) {
        await dieAt({ store, version, statement: 0, moment: 'before' });
        await withEngine(join(programs.dataDir, 'clickhouse'), (client) => insertSpans(client, version));
      }
      const last = statementsIn(sql).length - 1;
      const deaths = Math.min(last, DEATHS_EACH);
      for (let death = 0; death < deaths; death += 1) {
        const statement = Math.floor((death * last) / deaths);
        if (death % 2 === 0) await dieAt({ store, version, statement, moment: 'during', delayMs: dice.whole(0, 40) });
        else await dieAt({ store, version, statement, moment: 'after' });
      }
      await dieAt({ store, version, statement: last, moment: 'after' });
    }
    const program = await programs.start();
    for (const { version } of files.slice(1)) await expectSpans(program, version);
    await expectSessions(program, files.length - 1);
    await program.destroy();

    const migrated = await withEngine(join(programs.dataDir, 'clickhouse'), tablesOf);
    const complete = await withEngine(join(programs.dataDir, 'complete'), async (client) => {
      await migrateClickHouse(client, files, null);
      return tablesOf(client);
    });
    expect(migrated).to.deep.equal(complete);
  });
});

function newest(store: DeathPoint['store']): number {
  return readMigrationFiles(schemaDirectory(store)).length;
}

function withDatabase<T>(file: string, work: (database: Database) => T): T {
  const database = openDatabase(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function schemaOf(database: Database): unknown {
  return {
    objects: database.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all(),
    applied: database.prepare('SELECT version, checksum FROM schema_migrations ORDER BY version').all(),
  };
}

/** The migration from which on whoever has a key is a person of its project. */
const WITH_ROLES = 51;

/** A project with a key, as the migrations before one have them. @returns the key */
function insertKey(database: Database, version: number): string {
  const [user, project, id] = [randomUUID(), randomUUID(), randomUUID()];
  const key = generateApiKey();
  database.prepare(`INSERT INTO users (id, name, created_at) VALUES (?, 'Ann', 1)`).run(user);
  database.prepare(`INSERT INTO projects (id, name, created_at) VALUES (?, 'Old', 1)`).run(project);
  database
    .prepare(
      `INSERT INTO api_keys (id, project_id, user_id, name, prefix, hash, created_at) VALUES (?, ?, ?, 'old', 'sk', ?, 1)`,
    )
    .run(id, project, user, hashApiKey(key));
  if (version > WITH_ROLES)
    database
      .prepare(`INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, 'owner', 1)`)
      .run(project, user);
  return key;
}

/** The data directory without the program, on an engine of its own. */
async function withEngine<T>(path: string, work: (client: ClickHouseClient) => Promise<T>): Promise<T> {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const engine = await startEngine({ path, database: 'spanhouse', memoryMb: 1024, maxReadSeconds: 30, logger });
  const client = connect(engine.endpoint);
  try {
    return await work(client);
  } finally {
    await client.close();
    await engine.stop();
  }
}

const tablesOf = (client: ClickHouseClient) =>
  client.query(sql`SELECT name, create_table_query FROM system.tables WHERE database = 'spanhouse' ORDER BY name`);

const fourDigits = (version: number) => String(version).padStart(4, '0');
const uuidOf = (kind: number, version: number, number: string) =>
  `toUUID(concat('0000000${kind}-${fourDigits(version)}-7000-8000-', leftPad(toString(${number}), 12, '0')))`;
const traceId = (version: number, trace: number) =>
  `00000001-${fourDigits(version)}-7000-8000-${String(trace).padStart(12, '0')}`;

/** Spans as the migrations before this one have them; of every second trace, as when a server was killed, not rolled up. */
async function insertSpans(client: ClickHouseClient, version: number): Promise<void> {
  const texts =
    version === 2
      ? ['input_data, output_data', `concat('in ', toString(number)), if(number % 3 = 0, NULL, 'out')`]
      : [
          'payload, input_bytes, no_output',
          `concat('in ', toString(number), if(number % 3 = 0, '', 'out')), length(toString(number)) + 3, number % 3 = 0`,
        ];
  await client.command(
    statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, session_id, name, status, started_at, ended_at, cost, trace_tags, ${texts[0]})
     SELECT ${version}000000000 + number, '${PROJECT_ID}', ${uuidOf(1, version, `intDiv(number, ${SPANS})`)},
       ${uuidOf(2, version, 'number')}, ${uuidOf(3, 0, `intDiv(number, ${SPANS}) % ${SESSIONS}`)}, 'old', 'ok',
       toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number, toDateTime64('2026-01-01 00:00:01', 6, 'UTC') + number,
       toDecimal64(number % ${SPANS}, 6) / 1000, map('last', toString(number)), ${texts[1]}
     FROM numbers(${TRACES * SPANS})`),
  );
  await client.command(
    statementOf(`INSERT INTO touch_traces SELECT DISTINCT project_id, trace_id, ${version}999999999, 1 FROM spans
     WHERE intDiv(ver, 1000000000) = ${version} AND intDiv(ver % 1000000000, ${SPANS}) % 2 = 0`),
  );
  await client.command(
    sql`INSERT INTO touch_sessions (project_id, session_id) SELECT DISTINCT project_id, session_id FROM session_traces`,
  );
}

async function expectSpans(program: Program, version: number): Promise<void> {
  const [from, to] = [traceId(version, 0), traceId(version, TRACES - 1)];
  for (const trace of [from, traceId(version, 1), to]) {
    const { json: spans } = await program.request('GET', `/spans?trace_id=${trace}&limit=1000&sort_order=asc`);
    expect(spans, `spans of ${trace}`).to.have.length(SPANS);
    const first = Number(trace.slice(-12)) * SPANS;
    for (const [index, { input_data, output_data }] of (spans as Record<string, unknown>[]).entries())
      expect({ input_data, output_data }).to.deep.equal({
        input_data: `in ${first + index}`,
        output_data: (first + index) % 3 === 0 ? null : 'out',
      });
  }
  // Every version has its own, more than a page together.
  const pages = await Promise.all(
    [0, 500, 1000, 1500].map((offset) => program.request('GET', `/traces?limit=500&offset=${offset}`)),
  );
  const traces = pages.flatMap(({ json }) => json as Record<string, any>[]);
  const ofVersion = traces.filter(({ id }) => (id as string).startsWith(from.slice(0, 14)));
  expect(ofVersion, 'traces').to.have.length(TRACES);
  for (const { id, span_count, cost, tags } of ofVersion)
    expect({ span_count, cost, tags }).to.deep.equal({
      span_count: SPANS,
      cost: ((SPANS - 1) * SPANS) / 2 / 1000,
      tags: { last: String(Number((id as string).slice(-12)) * SPANS + SPANS - 1) },
    });
}

async function expectSessions(program: Program, fills: number): Promise<void> {
  const { json: sessions } = await program.request('GET', '/sessions');
  expect(sessions).to.have.length(SESSIONS);
  const count = (fills * TRACES) / SESSIONS;
  for (const { trace_count, cost, duration } of sessions as Record<string, unknown>[])
    expect({ trace_count, cost, duration }).to.deep.equal({
      trace_count: count,
      cost: (count * ((SPANS - 1) * SPANS)) / 2 / 1000,
      duration: count * SPANS * 1000,
    });
}
