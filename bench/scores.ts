import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { connect } from '../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { sql } from '../src/engine/traces/clickhouse/client/sql.js';
import { startProgress } from '../scripts/progress.js';
import { figure, median, printTable } from './figures.js';
import { fill } from './fill.js';
import { wholeNumber } from './options.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { statementOf } from '../test/harness/statement.js';
import { captureContext, writeResults } from './results.js';
import { timeCall } from './timed-calls.js';

const MAX_RATIO = 1.5;
const WARM_UP = 5;
/** Beside others on the machine, a call may take much longer than its processor time. */
const BUSY = { READ_TIMEOUT_SECONDS: '600' };

interface Options {
  readonly spans: number;
  readonly repetitions: number;
  readonly seed: number;
  readonly only: string;
  readonly keep?: string;
  readonly write: boolean;
}

/** A list by a score, and the same list by cost. */
interface Pair {
  readonly name: string;
  readonly byScore: string;
  readonly byCost: string;
}

const SORTS = ['sort_by=', 'sort_order=asc&sort_by='] as const;
/** Costs of about a tenth of the objects of a list, as the scores looked for are. */
const COSTS = {
  spans: 'cost_min=0.002&cost_max=0.01',
  traces: 'cost_min=0.00664&cost_max=0.00712',
  sessions: 'cost_min=0.02604&cost_max=0.02686',
} as const;
/** Of spans a tenth have a rare score, and a tenth of these one that is looked for; most traces and sessions hold one. */
const RARE_COSTS = { ...COSTS, spans: 'cost_min=0.005&cost_max=0.02' } as const;
const PAIRS: readonly Pair[] = (['spans', 'traces', 'sessions'] as const).flatMap((list) => {
  const path = (query: string) => `/${list}?limit=50&${query}`;
  const pair = (name: string, score: string, cost: string): Pair => ({
    name: `${list}: ${name}`,
    byScore: path(score),
    byCost: path(cost),
  });
  const filter = COSTS[list];
  return [
    pair('sorted, of all', `${SORTS[0]}scores.quality`, `${SORTS[0]}cost`),
    pair('sorted ascending, of all', `${SORTS[1]}scores.quality`, `${SORTS[1]}cost`),
    pair('sorted, of a tenth', `${SORTS[0]}scores.rare`, `${SORTS[0]}cost`),
    pair('sorted, true or false', `${SORTS[0]}scores.ok`, `${SORTS[0]}cost`),
    pair('found, of all', 'scores.quality=0.2..0.3', filter),
    pair('found, of a tenth', 'scores.rare=0.2..0.3', RARE_COSTS[list]),
    pair('shown', 'fields=id,name,scores', 'fields=id,name,cost'),
  ];
});

/** `scores`: how long lists by scores take against the same lists by cost. */
export function register(program: Command): void {
  program
    .command('scores')
    .description('fill a server with spans and a score of each, then time lists by scores against those by cost')
    .option('--spans <n>', 'spans to fill in', wholeNumber(1000, 10_000_000), 120_000)
    .option('--repetitions <n>', 'measurements of each list after one to warm up', wholeNumber(1, 999), 7)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--only <text>', 'only lists whose names hold this, such as `shown`', '')
    .option('--keep <dir>', 'use the data in this folder, or leave it there')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench({ spans, repetitions, seed, only, keep, write }: Options): Promise<void> {
  const context = captureContext();
  const directory = keep === undefined ? await mkdtemp(join(tmpdir(), 'spanhouse-bench-')) : resolve(keep);
  try {
    await fill(directory, spans, seed);
    const engine = await giveScores(directory);
    const server = await startServerProcess({ dataDir: directory, env: BUSY });
    try {
      const pairs = PAIRS.filter(({ name }) => name.includes(only));
      const rows = await measureAll(server, pairs, repetitions);
      printTable(COLUMNS, rows);
      if (!write || only !== '') return;
      writeResults({
        name: `Lists by scores at ${spans.toLocaleString('en')} spans`,
        command: `npm run bench -- scores --spans ${spans} --repetitions ${repetitions}`,
        context,
        engine,
        about:
          'Each span has a score `quality` and one that is true or false, a tenth have another one, `rare`. Pages of 50; medians over ' +
          'HTTP, and of the processor time of the engine for a call, which the target is held against: each for the list by a score and for ' +
          'the same list by cost, in turn.',
        columns: COLUMNS,
        rows,
      });
    } finally {
      await server.stop();
    }
  } finally {
    if (keep === undefined) await rm(directory, { recursive: true, force: true });
  }
}

const COLUMNS = [
  ...['list', 'by score, ms', 'by cost, ms', 'ratio'],
  ...['engine, by score / by cost, ms of processor time', 'ratio', `target ≤ ${MAX_RATIO}`],
];

async function measureAll(server: ServerProcess, pairs: readonly Pair[], repetitions: number): Promise<string[][]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const progress = startProgress('measuring', pairs.length, 'pairs');
  const rows: string[][] = [];
  try {
    for (const { name, byScore, byCost } of pairs) {
      const [score, cost] = [new Timed(server, byScore, agent), new Timed(server, byCost, agent)];
      // A name is filled in when it is asked for again, two lists at a time.
      for (let run = -WARM_UP; run < repetitions; run += 1) for (const each of [score, cost]) await each.call(run >= 0);
      // Beside others on the machine, a time on the clock tells little.
      const ratio = score.processor / cost.processor;
      rows.push([
        ...[name, figure(score.wall), figure(cost.wall), figure(score.wall / cost.wall)],
        ...[
          `${figure(score.processor)} / ${figure(cost.processor)}`,
          figure(ratio),
          ratio <= MAX_RATIO ? 'met' : 'NOT met',
        ],
      ]);
      progress.update(rows.length);
    }
    return rows;
  } finally {
    progress.stop();
    agent.destroy();
  }
}

class Timed {
  readonly #server: ServerProcess;
  readonly #path: string;
  readonly #agent: Agent;
  readonly #wall: number[] = [];
  readonly #processor: number[] = [];

  constructor(server: ServerProcess, path: string, agent: Agent) {
    this.#server = server;
    this.#path = path;
    this.#agent = agent;
  }

  get wall(): number {
    return median(this.#wall);
  }

  get processor(): number {
    return median(this.#processor);
  }

  async call(counts: boolean): Promise<void> {
    const before = this.#server.cpuMs().engine;
    const request = () => ({ path: this.#path });
    const outcome = await timeCall(this.#server, { name: this.#path, request }, 0, this.#agent);
    if (typeof outcome === 'string') throw new Error(`GET ${this.#path} failed: ${outcome}`);
    if (!counts) return;
    this.#wall.push(outcome);
    this.#processor.push(this.#server.cpuMs().engine - before);
  }
}

const GIVEN = [
  { name: 'quality', kind: 'numeric', number: 'round((cityHash64(id) % 1000003) / 1000003, 6)', of: '1', after: 1 },
  { name: 'ok', kind: 'boolean', number: 'cityHash64(id, 1) % 2', of: '1', after: 2 },
  {
    name: 'rare',
    kind: 'numeric',
    number: '(cityHash64(id, 2) % 1000) / 1000',
    of: 'cityHash64(id, 3) % 10 = 0',
    after: 3,
  },
] as const;

/** Stores scores of all spans, unless there are any: each right after its span. @returns the version of the engine */
async function giveScores(dataDir: string): Promise<string> {
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const options = {
    path: join(dataDir, 'clickhouse'),
    database: 'spanhouse',
    memoryMb: 4096,
    maxReadSeconds: 600,
    logger,
  };
  const engine = await startEngine(options);
  const client = connect(engine.endpoint, { requestTimeoutMs: 3_600_000, settings: { async_insert: 0 } });
  try {
    const [stored] = await client.query<{ scores: string; version: string }>(
      sql`SELECT toString(count()) AS scores, version() AS version FROM scores`,
    );
    if (stored?.scores === '0') await client.command(statementOf(GIVEN_TO_ALL));
    return stored?.version ?? 'unknown';
  } finally {
    await client.close();
    await engine.stop();
  }
}

/** In the order in which they came, as a server stores them: those of a span together. */
const GIVEN_TO_ALL = `INSERT INTO scores (ver, project_id, entity_type, entity_id, name, id, source, kind, number)
SELECT ver + score.1, project_id, 'span', id, score.2, reinterpretAsUUID(sipHash128(id, score.2)), 'sdk', score.3, score.4
FROM spans ARRAY JOIN arrayFilter(score -> score.5, [
  ${GIVEN.map(({ name, kind, number, of, after }) => `(${after}, '${name}', '${kind}', toFloat64(${number}), ${of})`).join(',\n  ')}
]) AS score`;
