import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { IdentityService } from '../src/engine/identity/identity-service.js';
import { SqliteIdentityStore } from '../src/engine/identity/store/identity-store.js';
import { DATABASE_FILE, openDatabase } from '../src/engine/metadata/database.js';
import { figure, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';

/** As many monitors as a project can have. */
const OF_PROJECT = 200;
const SPANS_AT_ONCE = 20;
const NAMES = 40;
const MEASURES = ['error_rate', 'cost', 'duration_p95', 'count', 'tokens'];
const WINDOWS = [5, 15, 60, 360, 1440];
const COLUMNS = ['monitors', 'looks/s', 'monitors measured/s', 'processor, server / engine, cores', 'more than none'];

interface Options {
  readonly monitors: number;
  readonly seconds: number;
  readonly write: boolean;
}

interface Project {
  readonly projectId: string;
  readonly key: string;
}

/** `monitors`: what it costs that monitors are looked at. */
export function register(program: Command): void {
  program
    .command('monitors')
    .description('write a trickle of spans to some projects without monitors, and with many')
    .option('--monitors <n>', 'monitors in all', wholeNumber(OF_PROJECT, 20_000), 1_000)
    .option('--seconds <n>', 'how long each is measured', wholeNumber(1, 600), 60)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext({});
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  const server = await startServerProcess({ dataDir });
  try {
    const projects = makeProjects(dataDir, Math.ceil(options.monitors / OF_PROJECT));
    for (let n = 0; n < 25; n += 1) await writeTo(server, projects);
    const none = await measured(server, projects, options);
    for (let n = 0; n < options.monitors; n += 1) await makeMonitor(server, projects, n);
    while ((await server.metric('spanhouse_monitor_checks_total')) < options.monitors) await sleep(500);
    const many = await measured(server, projects, options);
    const rows = [rowOf('0', none, none), rowOf(String(options.monitors), many, none)];
    printTable(COLUMNS, rows);
    if (!options.write) return;
    const command = `npm run bench -- monitors --monitors ${options.monitors} --seconds ${options.seconds}`;
    const about =
      `Monitors of ${projects.length} projects, to each of which ${SPANS_AT_ONCE} spans are written a second: five measures, ` +
      `five windows, ${NAMES} filters, so that each ${MEASURES.length} are measured together.`;
    writeResults({ name: 'Monitors', command, context, engine: 'embedded', about, columns: COLUMNS, rows });
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function makeProjects(dataDir: string, count: number): Project[] {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
  const { id: userId } = identity.createUser({ name: 'bench' });
  const projects = Array.from({ length: count }, (_none, number) => {
    const { id: projectId } = identity.createProject({ name: `bench ${number}`, id: randomUUID() });
    return { projectId, key: identity.createKey({ projectId, userId, name: 'bench' }).key };
  });
  database.close();
  return projects;
}

async function post(server: ServerProcess, path: string, key: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function writeTo(server: ServerProcess, projects: readonly Project[]): Promise<void> {
  for (const { key } of projects) {
    const spans = Array.from({ length: SPANS_AT_ONCE }, (_none, number) => ({
      ...{ trace_id: randomUUID(), name: `step ${Math.floor(Math.random() * NAMES)}`, kind: 'llm' },
      started_at: new Date(Date.now() - Math.random() * 300_000).toISOString(),
      ...{ duration_ms: number * 10, cost: number / 100, status: number % 7 === 0 ? 'error' : 'ok' },
    }));
    await post(server, '/spans', key, spans);
  }
}

async function makeMonitor(server: ServerProcess, projects: readonly Project[], number: number): Promise<void> {
  const { projectId, key } = projects[Math.floor(number / OF_PROJECT)] as Project;
  const group = Math.floor((number % OF_PROJECT) / MEASURES.length);
  await post(server, `/projects/${projectId}/monitors`, key, {
    ...{ name: `monitor ${number}`, measure: MEASURES[number % MEASURES.length], operator: 'above', threshold: 1e9 },
    ...{ query: `names=step ${group}`, window_minutes: WINDOWS[group % WINDOWS.length] },
  });
}

interface Measurement {
  readonly looks: number;
  readonly monitors: number;
  readonly server: number;
  readonly engine: number;
}

/** While spans are written once a second. */
async function measured(
  server: ServerProcess,
  projects: readonly Project[],
  { seconds }: Options,
): Promise<Measurement> {
  const counters = () =>
    Promise.all([
      server.metric('spanhouse_monitor_check_duration_seconds_count'),
      server.metric('spanhouse_monitor_checks_total'),
    ]);
  await sleep(3_000);
  const [looks, monitors] = await counters();
  const [began, cpu] = [performance.now(), server.cpuMs()];
  while (performance.now() - began < seconds * 1000) {
    const next = performance.now() + 1_000;
    await writeTo(server, projects);
    await sleep(Math.max(0, next - performance.now()));
  }
  const [ms, after] = [performance.now() - began, server.cpuMs()];
  const [looksAfter, monitorsAfter] = await counters();
  return {
    looks: ((looksAfter - looks) / ms) * 1000,
    monitors: ((monitorsAfter - monitors) / ms) * 1000,
    server: (after.server - cpu.server) / ms,
    engine: (after.engine - cpu.engine) / ms,
  };
}

function rowOf(monitors: string, of: Measurement, none: Measurement): string[] {
  const more = of.server + of.engine - none.server - none.engine;
  return [
    monitors,
    figure(of.looks),
    figure(of.monitors),
    `${figure(of.server)} / ${figure(of.engine)}`,
    monitors === '0' ? '' : figure(more),
  ];
}
