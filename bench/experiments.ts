import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { migrate } from '../src/engine/traces/migrations.js';
import { writeWatermark } from '../src/engine/traces/rollup/recovery.js';
import { connect, type ClickHouseClient } from '../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { sql } from '../src/engine/traces/clickhouse/client/sql.js';
import { readMigrationFiles } from '../src/engine/files/migration-files.js';
import { schemaDirectory } from '../src/engine/files/schema-files.js';
import { DATABASE_FILE, openDatabase } from '../src/engine/metadata/database.js';
import { SqlitePinStore } from '../src/features/judges/store/pin-store.js';
import { statementOf } from '../test/harness/statement.js';
import { startProgress } from '../scripts/progress.js';
import { figure, median, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';
import { PROJECT_ID } from './rows.js';

const EXPERIMENT = '0197f3a0-0000-7000-8000-0000000000e1';
const EVALUATED = '0197f3a0-0000-7000-8000-0000000000e2';
/** The first version of a result; versions are microseconds since 2025. */
const FIRST = 40_000_000_000_000;
const AT_ONCE = 100_000;
/** Two experiments that are compared, each with a result of every row. */
const COMPARED = ['0197f3a0-0000-7000-8000-0000000000e3', '0197f3a0-0000-7000-8000-0000000000e4'] as const;
/** Results that a judge evaluated. */
const JUDGED = 100_000;

interface Options {
  readonly results: number;
  readonly rows: number;
  readonly repetitions: number;
  readonly keep?: string;
  readonly write: boolean;
}

/** `experiments`: reads of an experiment with very many results. */
export function register(program: Command): void {
  program
    .command('experiments')
    .description(
      'fill a server with the results of an experiment, then time what reads all of them, and how much memory that takes',
    )
    .option('--results <n>', 'results to fill in', wholeNumber(1_000, 3_200_000), 1_000_000)
    .option('--rows <n>', 'rows that they are of', wholeNumber(1_000, 100_000), 100_000)
    .option('--repetitions <n>', 'measurements of each read after one to warm up', wholeNumber(1, 99), 3)
    .option('--keep <dir>', 'use the data in this folder, or leave it there')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench({ results, rows, repetitions, keep, write }: Options): Promise<void> {
  const context = captureContext();
  const directory = keep === undefined ? await mkdtemp(join(tmpdir(), 'spanhouse-bench-')) : resolve(keep);
  try {
    const engine = await fill(directory, results, rows);
    let server = await startServerProcess({ dataDir: directory });
    await make(server, rows, Math.ceil(results / rows));
    await server.stop();
    judge(directory, Math.min(results, JUDGED));
    server = await startServerProcess({ dataDir: directory });
    try {
      const table = await measure(server, repetitions, results);
      printTable(COLUMNS, table);
      if (!write) return;
      writeResults({
        name: `An experiment with ${results.toLocaleString('en')} results`,
        command: `npm run bench -- experiments --results ${results} --rows ${rows} --repetitions ${repetitions}`,
        context,
        engine,
        about:
          `Results of ${rows.toLocaleString('en')} rows, each in a trace of its own, with two scores; a judge evaluated ` +
          `${Math.min(results, JUDGED).toLocaleString('en')} of them. Two further experiments, which are compared by four metrics, have a result of each row. Medians over HTTP; memory is the peak since the start of the server, behind each read.`,
        columns: COLUMNS,
        rows: table,
      });
    } finally {
      await server.stop();
    }
  } finally {
    if (keep === undefined) await rm(directory, { recursive: true, force: true });
  }
}

const COLUMNS = ['read', 'ms', 'engine, CPU ms', 'server, CPU ms', 'peak of the engine, MB', 'peak of the server, MB'];

async function measure(server: ServerProcess, repetitions: number, results: number): Promise<string[][]> {
  const of = `/projects/${PROJECT_ID}/experiments`;
  const [candidate, baseline] = COMPARED;
  const compared = {
    candidate,
    baseline,
    metrics: [
      { name: 'ok', rule: 'no_regression' },
      { name: 'quality', rule: 'not_worse', margin: '5%' },
      { name: 'cost', rule: 'report' },
      { name: 'duration_ms', rule: 'report' },
    ],
  };
  const reads: readonly (readonly [name: string, path: string, body?: unknown])[] = [
    ['a page of results', `${of}/${EXPERIMENT}/results?limit=100`],
    ['the last page of results', `${of}/${EXPERIMENT}/results?limit=100&offset=${results - 100}`],
    ['what is missing', `${of}/${EXPERIMENT}/missing`],
    ['what is missing of one without results', `${of}/${EVALUATED}/missing?limit=10000&offset=${results / 2}`],
    ['the list, with figures', of],
    ['the experiment, with judges', `${of}/${EXPERIMENT}`],
    ['a comparison of two', `/projects/${PROJECT_ID}/comparisons`, compared],
  ];
  const table: string[][] = [];
  for (const [name, path, body] of reads) {
    const taken: { wall: number; engine: number; server: number }[] = [];
    for (let run = 0; run <= repetitions; run += 1) {
      const before = server.cpuMs();
      const began = performance.now();
      const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(server.url + path, { headers, ...sent });
      const text = await response.text();
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
      const [wall, after] = [performance.now() - began, server.cpuMs()];
      if (run > 0) taken.push({ wall, engine: after.engine - before.engine, server: after.server - before.server });
    }
    const { engine, server: node } = server.peakMemory();
    const middle = (which: keyof (typeof taken)[number]) => figure(median(taken.map((each) => each[which])));
    table.push([name, middle('wall'), middle('engine'), middle('server'), figure(engine / 1e6), figure(node / 1e6)]);
  }
  return table;
}

/** Stores results as a server leaves them. @returns the version of the engine */
async function fill(dataDir: string, results: number, rows: number): Promise<string> {
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const engine = await startEngine({
    ...{ path: join(dataDir, 'clickhouse'), database: 'spanhouse', memoryMb: 4096, maxReadSeconds: 600, logger },
  });
  const client = connect(engine.endpoint, { requestTimeoutMs: 3_600_000, settings: { async_insert: 0 } });
  try {
    await migrate(client, readMigrationFiles(schemaDirectory('clickhouse')), null);
    const [stored] = await client.query<{ spans: string; version: string }>(
      sql`SELECT toString(count()) AS spans, version() AS version FROM spans`,
    );
    if (stored?.spans === '0')
      for (const [index, experiment] of [EXPERIMENT, ...COMPARED].entries())
        await store(client, {
          experiment,
          first: FIRST + index * 10 ** 9,
          results: index === 0 ? results : rows,
          rows,
        });
    return stored?.version ?? 'unknown';
  } finally {
    await client.close();
    await engine.stop();
  }
}

interface Stored {
  readonly experiment: string;
  /** The first version. */
  readonly first: number;
  readonly results: number;
  readonly rows: number;
}

async function store(client: ClickHouseClient, { experiment, first, results, rows }: Stored): Promise<void> {
  const progress = startProgress(`filling with ${results.toLocaleString('en')} results`, results, 'results');
  const last = first + 4 * results;
  for (let from = 0; from < results; from += AT_ONCE) {
    const numbers = `numbers(${from}, ${Math.min(AT_ONCE, results - from)})`;
    const id = `reinterpretAsUUID(sipHash128('${experiment}', number))`;
    await client.command(
      statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, name, kind, status, started_at, ended_at, duration_ms, cost, payload, input_bytes,
  input_tokens, output_tokens, attributes, experiment_id, experiment_row, experiment_repetition)
SELECT ${first} + number * 4, '${PROJECT_ID}', ${id}, ${id}, 'tried', 'llm', 'ok',
  fromUnixTimestamp64Micro(toInt64(1735689600000000 + ${first} + number * 4)), NULL, (number * 7919) % 100003 / 7, toDecimal128((number % 997) / 100000, 12),
  concat('What goes in ', toString(number), 'What comes out ', toString(number)), length(concat('What goes in ', toString(number))),
  number % 1000, number % 100, '{}', '${experiment}', concat('r', leftPad(toString(number % ${rows}), 6, '0')), intDiv(number, ${rows}) + 1
FROM ${numbers}`),
    );
    await client.command(
      statementOf(`INSERT INTO touch_traces (project_id, trace_id, upto, round)
SELECT '${PROJECT_ID}', ${id}, ${first + 4 * (from + AT_ONCE)}, ${first + 4 * (from + AT_ONCE) + 1} FROM ${numbers}`),
    );
    for (const [name, kind, value, after] of [
      ['quality', 'numeric', `cityHash64('${experiment}', number) % 1000 / 1000`, 1],
      ['ok', 'boolean', `cityHash64('${experiment}', number, 1) % 2`, 2],
    ] as const)
      await client.command(
        statementOf(`INSERT INTO scores (ver, project_id, entity_type, entity_id, name, id, source, kind, number)
SELECT ${first} + number * 4 + ${after}, '${PROJECT_ID}', 'span', ${id}, '${name}', reinterpretAsUUID(sipHash128('${experiment}', number, '${name}')), 'sdk', '${kind}', ${value}
FROM ${numbers}`),
      );
    progress.update(from + AT_ONCE);
  }
  await writeWatermark(client, last + 1);
  progress.stop();
}

/** The dataset, and experiments on it: one with the results, one with none. */
async function make(server: ServerProcess, rows: number, repetitions: number): Promise<void> {
  const send = async (path: string, body: string, method = 'POST') => {
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
    const response = await fetch(server.url + path, { method, headers, body });
    const text = await response.text();
    if (!response.ok && response.status !== 409) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { id?: string };
  };
  const { id: dataset_id } = await send('/v1/datasets', JSON.stringify({ name: 'large' }));
  if (dataset_id === undefined) return;
  const made = Array.from({ length: rows }, (_none, row) => ({
    ...{ id: `r${String(row).padStart(6, '0')}`, q: `Question ${row}` },
  }));
  await send('/v1/datasets/large/versions', JSON.stringify({ rows: made }));
  for (const [name, kind] of Object.entries({ quality: 'numeric', ok: 'boolean' }))
    await send(`/projects/${PROJECT_ID}/score-definitions/${name}`, JSON.stringify({ kind }), 'PUT');
  const at = '2026-01-01T00:00:00Z';
  const experiment = (id: string, isFinished = false) => ({
    ...{
      id,
      name: 'tried',
      description: '',
      dataset_id,
      dataset_name: 'large',
      dataset_version: 1,
      row_count: rows,
      repetitions: isFinished ? 1 : repetitions,
    },
    ...{
      status: isFinished ? 'finished' : 'running',
      phase: null,
      active_at: at,
      subject: {},
      parameters: {},
      created_at: at,
      finished_at: isFinished ? at : null,
    },
    created_by: { id: EXPERIMENT, name: 'Bench' },
  });
  await send(
    `/projects/${PROJECT_ID}/import/experiments`,
    JSON.stringify([experiment(EXPERIMENT), experiment(EVALUATED), ...COMPARED.map((id) => experiment(id, true))]),
  );
  await send(
    `/projects/${PROJECT_ID}/judges`,
    JSON.stringify({ name: 'j', evaluation_type: 'binary', prompt: 'Right?', enabled: false }),
  );
}

/** What a judge said of the first results. */
function judge(dataDir: string, results: number): void {
  const db = openDatabase(join(dataDir, DATABASE_FILE));
  try {
    const pins = new SqlitePinStore(db);
    const { id } = db.prepare('SELECT id FROM judges').get() as { id: string };
    if (pins.ofExperiment(PROJECT_ID, EXPERIMENT).length > 0) return;
    const version = { project_id: PROJECT_ID, judge_id: id, judge_version: 'v', prompt_version_id: 'p', revision: 0 };
    const pin = pins.keep({ ...version, created_at: 1, corrections: [] });
    pins.ask(EXPERIMENT, pin?.seq ?? 0, 1);
    const insert =
      db.prepare(`INSERT INTO evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result,
      evaluation_reason, judge_version, created_at) VALUES (?, ?, ?, ?, 'automatic', 'binary', ?, '', 'v', ?)`);
    db.transaction(() => {
      for (let place = 0; place < results; place += 1) {
        const span = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
        insert.run(span, PROJECT_ID, id, span, place % 2, place + 1);
      }
    })();
  } finally {
    db.close();
  }
}
