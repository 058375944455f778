import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies } from './bodies.js';
import { against, figure, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import type { Bodies } from './processes/load.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { startSteadyLoad, type SteadyLoad } from './processes/steady.js';
import { startProgress } from '../scripts/progress.js';
import { captureContext, writeResults } from './results.js';
import { PROJECT_ID } from './rows.js';

const POOL_REQUESTS = 300;
const SAMPLE_RATE = 0.0005;
const TARGET = 0.8;
const WARM_UP_MS = 4_000;
/** A queue that is not drained by then never will be. */
const DRAIN_TIMEOUT_MS = 30 * 60_000;

interface Options {
  readonly evaluations: number;
  readonly concurrency: number;
  readonly delay: number;
  readonly seconds: number;
  readonly seed: number;
  readonly profile?: string;
  readonly write: boolean;
}

/** `judges`: what draining a queue of evaluations costs those who send spans. */
export function register(program: Command): void {
  program
    .command('judges')
    .description(
      'send spans at full speed while a queue of evaluations is drained, and without a queue before and after',
    )
    .option('--evaluations <n>', 'evaluations queued', wholeNumber(1, 10_000), 10_000)
    .option('--concurrency <n>', 'most calls to the model endpoint at once', wholeNumber(1, 1000), 32)
    .option('--delay <ms>', 'time the model endpoint takes', wholeNumber(0, 60_000), 200)
    .option('--seconds <n>', 'how long spans are sent before and after, with nothing queued', wholeNumber(1, 600), 30)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--profile <dir>', 'write a CPU profile of the server to this folder (slows it a little)')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

interface Phase {
  readonly seconds: number;
  readonly spansPerSecond: number;
  /** Processor time of server and engine, per second of the phase. */
  readonly cpu: { readonly server: number; readonly engine: number };
}

interface Measured {
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  readonly idle: Phase;
  readonly idleEvaluations: number;
  readonly duringEvaluations: number;
  readonly most: number;
}

async function bench(options: Options): Promise<void> {
  const context = captureContext();
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-judges-'));
  const endpoint = await startEndpoint(options.delay);
  try {
    const measured = await measure(options, directory, endpoint.url);
    const { columns, rows } = tableOf(measured, options);
    printTable(columns, rows);
    if (!options.write) return;
    const { evaluations, concurrency, delay, seconds } = options;
    writeResults({
      name: 'Judges',
      command: `npm run bench -- judges --evaluations ${evaluations} --concurrency ${concurrency} --delay ${delay} --seconds ${seconds}`,
      context,
      engine: 'embedded',
      about:
        `Spans in requests of ${REQUEST_SPANS} by ${REQUEST_CLIENTS} clients without a pause: ${seconds} s with nothing queued, then while ` +
        `${evaluations} queued evaluations are drained and ${SAMPLE_RATE * 100} % of the new spans are queued as well, then ${seconds} s with ` +
        `nothing queued again; all in one server. The model endpoint is a process of its own on this machine that answers after ${delay} ms; ` +
        `at most ${concurrency} calls are under way. Every call is stored as a span. First, the same number of evaluations without other load.`,
      columns,
      rows,
    });
  } finally {
    endpoint.child.kill();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(options: Options, dataDir: string, endpointUrl: string): Promise<Measured> {
  const bodies = requestBodies(options.seed, POOL_REQUESTS * REQUEST_SPANS);
  const nodeArguments = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const env = {
    JUDGE_LLM_BASE_URL: `${endpointUrl}/v1`,
    JUDGE_LLM_MODEL: 'gpt-4o-mini',
    JUDGE_CONCURRENCY: String(options.concurrency),
  };
  const server = await startServerProcess({ dataDir, nodeArguments, env });
  try {
    const judge = await makeJudge(server);
    await judge.fill(bodies, options.evaluations);
    const idleEvaluations = await evaluated(server);
    const idle = await phase(server, null, async () => {
      await judge.queue(options.evaluations);
      await drained(server, idleEvaluations + options.evaluations, 'evaluations alone');
    });
    const load = startSteadyLoad(bodies, { url: server.url, key: server.key, clients: REQUEST_CLIENTS });
    await sleep(WARM_UP_MS);
    const before = await phase(server, load, () => sleep(options.seconds * 1000));
    const evaluatedBefore = await evaluated(server);
    const during = await phase(server, load, async () => {
      await judge.enable(true);
      await judge.queue(options.evaluations);
      await drained(server, evaluatedBefore + options.evaluations, 'evaluations under load');
    });
    const duringEvaluations = (await evaluated(server)) - evaluatedBefore;
    await judge.enable(false);
    await sleep(WARM_UP_MS);
    const after = await phase(server, load, () => sleep(options.seconds * 1000));
    await load.stop();
    const most = Number(await (await fetch(`${endpointUrl}/most`)).text());
    return { before, during, after, idle, idleEvaluations: options.evaluations, duringEvaluations, most };
  } finally {
    await server.stop();
  }
}

async function phase(server: ServerProcess, load: SteadyLoad | null, work: () => Promise<void>): Promise<Phase> {
  const [cpuBefore, from] = [server.cpuMs(), await count(load)];
  await work();
  const [cpuAfter, to] = [server.cpuMs(), await count(load)];
  const seconds = (to.at - from.at) / 1000;
  return {
    seconds,
    spansPerSecond: ((to.answered - from.answered) * REQUEST_SPANS) / seconds,
    cpu: {
      server: (cpuAfter.server - cpuBefore.server) / 1000 / seconds,
      engine: (cpuAfter.engine - cpuBefore.engine) / 1000 / seconds,
    },
  };
}

async function count(load: SteadyLoad | null) {
  return load === null ? { answered: 0, at: Date.now() } : load.count();
}

function evaluated(server: ServerProcess): Promise<number> {
  return server.metric('spanhouse_evaluations_total\\{.*origin="requested"\\}');
}

async function drained(server: ServerProcess, wanted: number, label: string): Promise<void> {
  const from = await evaluated(server);
  const progress = startProgress(label, wanted - from, 'evaluations');
  const until = performance.now() + DRAIN_TIMEOUT_MS;
  try {
    for (;;) {
      const done = await evaluated(server);
      progress.update(done - from);
      if (done >= wanted) return;
      if (performance.now() > until) throw new Error(`only ${done - from} evaluations in time`);
      await sleep(1_000);
    }
  } finally {
    progress.stop();
  }
}

async function makeJudge(server: ServerProcess) {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const call = async (method: string, path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(server.url + path, {
      method,
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const judges = `/projects/${PROJECT_ID}/judges`;
  const filters = { kinds: ['llm'] };
  const prompt = 'Does the answer say what was asked for? Be strict.';
  const settings = {
    name: 'bench',
    evaluation_type: 'binary',
    prompt,
    filters,
    sample_rate: SAMPLE_RATE,
    enabled: false,
  };
  const { id } = (await call('POST', judges, settings)) as { id: string };
  return {
    enable: (enabled: boolean) => call('PATCH', `${judges}/${id}`, { enabled }),
    queue: (backfill: number) => call('POST', `${judges}/${id}:run`, { backfill }),
    /** Stores enough spans that can be evaluated. */
    async fill(bodies: Bodies, evaluations: number) {
      let stored = 0;
      for (const index of bodies.ends.keys()) {
        const body = bodies.at(index);
        await call('POST', '/spans', body.toString());
        stored += body.toString().split('"kind":"llm"').length - 1;
        if (stored >= evaluations) return;
      }
      throw new Error(`the data holds only ${stored} spans that can be evaluated`);
    },
  };
}

async function startEndpoint(delayMs: number): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const file = join(import.meta.dirname, 'processes', 'model-endpoint.js');
  const child = fork(file, [String(delayMs)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { url: /http:\/\/[\d.:]+/.exec(line.toString())?.[0] ?? '', child };
}

function tableOf(
  { before, during, after, idle, idleEvaluations, duringEvaluations, most }: Measured,
  options: Options,
) {
  const without = (before.spansPerSecond + after.spansPerSecond) / 2;
  const ratio = during.spansPerSecond / without;
  const cpu = ({ cpu: { server, engine } }: Phase) => `${figure(server)} / ${figure(engine)}`;
  const rows: (string | number)[][] = [
    ['spans/s without judges: before, after', `${figure(before.spansPerSecond)}, ${figure(after.spansPerSecond)}`, ''],
    ['spans/s while the queue is drained', figure(during.spansPerSecond), ''],
    ['  ratio', figure(ratio), against(ratio, '≥', TARGET)],
    ['evaluations/s meanwhile', figure(duringEvaluations / during.seconds), ''],
    ['  seconds until the queue was drained', figure(during.seconds), ''],
    ['evaluations/s without other load', figure(idleEvaluations / idle.seconds), ''],
    ['most calls under way', `${most} of ${options.concurrency}`, ''],
    ['processors used, server / engine: without judges', `${cpu(before)}, ${cpu(after)}`, ''],
    ['  while the queue is drained', cpu(during), ''],
    ['  evaluations alone', cpu(idle), ''],
  ];
  return { columns: ['measure', 'value', 'target'], rows };
}
