import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/engine/signals/logger.js';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine, type Engine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate, statementsIn } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const files = readMigrationFiles(schemaDirectory('clickhouse'));

/** Input and output as they were sent; row `n` has version `n + 1`. */
const rows: readonly (readonly [string | null, string | null])[] = [
  ['in', 'out'],
  [null, 'out'],
  ['in', null],
  [null, null],
  ['', ''],
  ['', null],
  [null, ''],
  ['grüße 👋', '¿qué?'],
  ["it's", 'a \\ backslash\nand a line'],
];

describe('the migration of stored spans to one payload', function () {
  this.timeout(60_000);
  let directory: string;
  let engine: Engine;
  let client: ClickHouseClient;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spanhouse-payload-'));
    const logger = createLogger({ level: 'silent', format: 'json' });
    engine = await startEngine({ path: directory, database: 'spanhouse', memoryMb: 1024, maxReadSeconds: 30, logger });
    client = connect(engine.endpoint);
    await migrate(client, files.slice(0, 1), null);
    const text = (value: string | null) =>
      value === null ? 'NULL' : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
    for (const [index, [input, output]] of rows.entries())
      await client.command(
        statementOf(
          `INSERT INTO spans (ver, project_id, id, input_data, output_data) VALUES (${index + 1}, 'p', generateUUIDv4(), ${text(input)}, ${text(output)})`,
        ),
      );
  });

  afterEach(async () => {
    await client.close();
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const stored = async () => {
    const found = await client.query<{ input_data: string | null; output_data: string | null }>(
      sql`SELECT input_data, output_data FROM spans ORDER BY ver`,
    );
    return found.map(({ input_data, output_data }) => [input_data, output_data]);
  };

  it('keeps every text and every null', async () => {
    const begun: { version: number; rewrites: readonly string[]; rows: number }[] = [];
    const migrationRewrites = ({ version, rewrites, rows }: (typeof begun)[number]) =>
      void begun.push({ version, rewrites, rows });
    const migrationBegins = ({ version }: { version: number }) => migrationRewrites({ version, rewrites: [], rows: 0 });
    await migrate(client, files, null, { migrationBegins, migrationRewrites });
    expect(await stored()).to.deep.equal(rows);
    expect(begun.map(({ version }) => version)).to.deep.equal(files.slice(1).map(({ version }) => version));
    expect(begun[0], 'what it says that it rewrites').to.deep.equal({
      version: 2,
      rewrites: ['spans'],
      rows: rows.length,
    });
  });

  it('can be cut off and run again', async () => {
    const [, file] = files;
    if (file === undefined) throw new Error('there is no second migration');
    const statements = statementsIn(file.sql);
    for (const done of [1, 4, 5, 6]) {
      const begun = statements.slice(0, done).join(';');
      await migrate(client, [...files.slice(0, 1), { ...file, sql: begun }], null);
      await client.command(sql`ALTER TABLE schema_migrations DELETE WHERE version = 2 SETTINGS mutations_sync = 2`);
    }
    await migrate(client, files, null);
    expect(await stored()).to.deep.equal(rows);
  });
});
