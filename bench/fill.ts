import { join } from 'node:path';
import { connect, type ClickHouseClient } from '../src/engine/traces/clickhouse/client/client.js';
import { insertedColumns } from '../src/engine/traces/write/table-columns.js';
import { EPOCH_SECONDS, type Version } from '../src/engine/traces/write/version-clock.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate } from '../src/engine/traces/migrations.js';
import { highestVersion, writeWatermark } from '../src/engine/traces/rollup/recovery.js';
import { WordIndex } from '../src/engine/traces/search/word-index.js';
import { WordIndexer } from '../src/engine/traces/search/word-indexer.js';
import { Governor } from '../src/engine/work/governor.js';
import { readMigrationFiles } from '../src/engine/files/migration-files.js';
import { schemaDirectory } from '../src/engine/files/schema-files.js';
import { FIRST_START, MS_BETWEEN_TRACES, SPANS_PER_TRACE } from './data.js';
import { startProgress } from '../scripts/progress.js';
import { binaryRows, generateSpans, PROJECT_ID, storedSpans } from './rows.js';
import { sql } from '../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../test/harness/statement.js';

/** Traces whose texts are generated; the rest are copies of them with other ids, times, users, costs and durations. */
const POOL_TRACES = 1000;
const POOL_SPANS = POOL_TRACES * SPANS_PER_TRACE;
const POOL_ROWS_AT_ONCE = 1200;
/** Copies of the pool that are written by one insert and rolled up in one round. */
const COPIES_AT_ONCE = 4;
/** Memory of the engine while it fills: more than while it serves, as only merges and sorts run then. */
const MEMORY_MB = 4096;

/** Which time the spans are of, and which projects. */
export interface Spread {
  /** When the first trace starts, in Unix milliseconds. */
  readonly firstStart: number;
  readonly msBetweenTraces: number;
  /** Whose the copies of the pool are, in turn: one that is named more often has more of them. */
  readonly projects: readonly string[];
}

const CLOSE_TOGETHER: Spread = {
  firstStart: FIRST_START,
  msBetweenTraces: MS_BETWEEN_TRACES,
  projects: [PROJECT_ID],
};

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Fills a DATA_DIR, when it is empty, with (about) `spans` spans and leaves what a server would have left that took them in one by
 * one: the rows of every table, and the mark up to which all is rolled up, so that the next start has nothing to heal.
 * The texts of 12,000 generated spans are repeated, far enough apart for no compression to notice.
 */
export async function fill(dataDir: string, spans: number, seed: number, spread = CLOSE_TOGETHER): Promise<void> {
  const engine = await startEngine({
    path: join(dataDir, 'clickhouse'),
    database: 'spanhouse',
    memoryMb: MEMORY_MB,
    maxReadSeconds: 600,
    logger: silent,
  });
  const client = connect(engine.endpoint, { requestTimeoutMs: 3_600_000, settings: { async_insert: 0 } });
  try {
    await migrate(client, readMigrationFiles(schemaDirectory('clickhouse')), null);
    const [stored] = await client.query<{ spans: string }>(sql`SELECT toString(count()) AS spans FROM spans`);
    if (stored?.spans === '0') {
      await makePool(client, seed);
      await multiplyPool(client, spans, spread);
      await client.command(sql`DROP TABLE bench_pool SYNC`);
    }
    await indexWords(client, spans);
    await mergesSettled(client);
  } finally {
    await client.close();
    await engine.stop();
  }
}

async function makePool(client: ClickHouseClient, seed: number): Promise<void> {
  await client.command(sql`CREATE TABLE bench_pool ENGINE = Memory AS SELECT * FROM spans LIMIT 0`);
  const step = POOL_ROWS_AT_ONCE / SPANS_PER_TRACE;
  for (let from = 0; from < POOL_TRACES; from += step) {
    const spans = storedSpans(generateSpans(seed, from, Math.min(POOL_TRACES, from + step)));
    const { bytes } = binaryRows(spans, from * SPANS_PER_TRACE);
    await client.insert('bench_pool', insertedColumns.spans, 'RowBinary', bytes);
  }
}

async function multiplyPool(client: ClickHouseClient, spans: number, spread: Spread): Promise<void> {
  const progress = startProgress(`filling with ${spans.toLocaleString('en')} spans`, spans, 'spans');
  try {
    for (let row = 0, copy = 0; row < spans; copy += COPIES_AT_ONCE) {
      const rows = Math.min(spans - row, COPIES_AT_ONCE * POOL_SPANS);
      const last = firstVersion(spread) + (row + rows) * versionStep(spread);
      await client.command(statementOf(copies(copy, rows, spread)));
      await rollUp(client, source(copy, rows), last, spread);
      row += rows;
      progress.update(row);
      if (row >= spans) await writeWatermark(client, last + 1);
    }
  } finally {
    progress.stop();
  }
}

function firstVersion({ firstStart }: Spread): Version {
  return (firstStart - EPOCH_SECONDS * 1000) * 1000;
}

/** Versions are as far apart as the spans' times: a span is taken in when it begins. */
function versionStep({ msBetweenTraces }: Spread): number {
  return Math.floor((msBetweenTraces * 1000) / SPANS_PER_TRACE);
}

/** Columns that differ between copies; all others are the pool's. */
function changed(spread: Spread): Readonly<Record<string, string>> {
  return {
    ver: `toUInt64(${firstVersion(spread)} + (copy * ${POOL_SPANS} + pool.ver) * ${versionStep(spread)})`,
    project_id: projectOf(spread),
    trace_id: copied('pool.trace_id'),
    id: copied('pool.id'),
    parent_span_id: `if(isNull(pool.parent_span_id), NULL, ${copied('assumeNotNull(pool.parent_span_id)')})`,
    session_id: copied('assumeNotNull(pool.session_id)'),
    started_at: `pool.started_at + ${shift(spread)}`,
    ended_at: `pool.ended_at + ${shift(spread)}`,
    duration_ms: 'pool.duration_ms + (copy % 9973) / 100000',
    cost: `pool.cost + toDecimal128((copy % 9973) / 1000000000, 12)`,
    tags: `mapUpdate(pool.tags, map('user', ${user("pool.tags['user']")}))`,
    session_tags: `if(empty(pool.session_tags), pool.session_tags, map('user', ${user("pool.session_tags['user']")}))`,
  };
}

function projectOf({ projects }: Spread): string {
  return `[${projects.map((id) => `'${id}'`).join(', ')}][copy % ${projects.length} + 1]`;
}

function copied(id: string): string {
  return `reinterpretAsUUID(sipHash128(copy, ${id}))`;
}

/** From the time of a row of the pool to that of its copy. */
function shift({ firstStart, msBetweenTraces }: Spread): string {
  const trace = `intDiv(pool.ver, ${SPANS_PER_TRACE})`;
  const apart = `copy * ${POOL_TRACES * msBetweenTraces} + ${trace} * ${msBetweenTraces - MS_BETWEEN_TRACES}`;
  return `toIntervalMillisecond(${firstStart - FIRST_START} + ${apart})`;
}

function user(of: string): string {
  return `concat('user-', leftPad(toString(cityHash64(copy, ${of}) % 50000), 5, '0'))`;
}

function copies(first: number, rows: number, spread: Spread): string {
  const columns = insertedColumns.spans;
  const own = changed(spread);
  const values = columns.map((column) => `${own[column] ?? `pool.${column}`} AS ${column}`);
  return `INSERT INTO spans (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${source(first, rows)}`;
}

/** The first rows of some copies of the pool. */
function source(first: number, rows: number): string {
  const numbers = `(SELECT number AS copy FROM numbers(${first}, ${Math.ceil(rows / POOL_SPANS)})) AS copies`;
  return `${numbers} CROSS JOIN bench_pool AS pool WHERE (copy - ${first}) * ${POOL_SPANS} + pool.ver < ${rows}`;
}

/** Computes rollups as a rollup round of the server does: traces from their facts, then their sessions. */
async function rollUp(client: ClickHouseClient, from: string, upTo: Version, spread: Spread): Promise<void> {
  const round = upTo + 1;
  await client.command(
    statementOf(`INSERT INTO touch_traces (project_id, trace_id, upto, round)
     SELECT DISTINCT ${projectOf(spread)}, ${copied('pool.trace_id')}, ${upTo}, ${round} FROM ${from}`),
  );
  await client.command(
    statementOf(
      `INSERT INTO touch_sessions (project_id, session_id, upto, round) SELECT DISTINCT project_id, session_id, ${upTo}, ${round} FROM session_traces WHERE round = ${round}`,
    ),
  );
}

/** A server left alone has indexed what it was sent. */
async function indexWords(client: ClickHouseClient, spans: number): Promise<void> {
  const index = new WordIndex(client);
  await index.load();
  const last = await highestVersion(client);
  const progress = startProgress(`indexing the words of ${spans.toLocaleString('en')} spans`, spans, 'spans');
  let done = 0;
  const indexer = new WordIndexer({
    client,
    index,
    settled: () => last,
    governor: new Governor(),
    observer: {
      wordsIndexed(round) {
        done += round.spans;
        progress.update(done);
      },
      wordIndexFailed: () => undefined,
    },
  });
  try {
    await indexer.run();
  } finally {
    await indexer.close();
    progress.stop();
  }
}

/** A server left alone has merged what it will merge; so that figures do not depend on when the filling ended. */
async function mergesSettled(client: ClickHouseClient): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    await new Promise((done) => setTimeout(done, 500));
    const [row] = await client.query<{ merges: string }>(sql`SELECT toString(count()) AS merges FROM system.merges`);
    quiet = row?.merges === '0' ? quiet + 1 : 0;
  }
}
