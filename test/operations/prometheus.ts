import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import { eventually } from '../judges/judge-api.js';

export const MONITORING = join(packageRoot(), 'scripts/monitoring');

/** Whether Prometheus and its tool are installed; says so where they are not. */
export function hasPrometheus(): boolean {
  const found = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0);
  if (!found)
    process.stderr.write(
      'Prometheus is not installed (Debian: apt-get install prometheus): tests of it are left out.\n',
    );
  return found;
}

/** Runs promtool among the shipped files, or those of a folder. @returns what it printed, and whether it was content */
export function promtool(
  args: readonly string[],
  { input = '', cwd = MONITORING } = {},
): { ok: boolean; text: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' });
  return { ok: status === 0, text: stdout + stderr };
}

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: string;
  readonly alerts: readonly { readonly state: string; readonly annotations: Readonly<Record<string, string>> }[];
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface PrometheusOptions {
  /** host:port of the server. */
  readonly target: string;
  /** The server's METRICS_TOKEN. */
  readonly token?: string;
  /** Changes the text of the rules. */
  readonly rules?: (text: string) => string;
}

/** How often a Prometheus of tests scrapes and evaluates. */
const EVERY = '500ms';

/** Some seconds, on a machine that is busy with other tests. */
const FIRES_WITHIN_MS = 60_000;

/** A Prometheus that runs the shipped configuration, against another target and sooner. */
export class Prometheus {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(folder: string, process: ChildProcess, port: number) {
    this.#folder = folder;
    this.#process = process;
    this.#url = `http://127.0.0.1:${port}`;
  }

  static async start({ target, token, rules = (text) => text }: PrometheusOptions): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-prometheus-'));
    cpSync(MONITORING, folder, { recursive: true });
    const config = parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8'));
    Object.assign(config.global, { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: EVERY });
    config.scrape_configs[0].static_configs[0].targets = [target];
    writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
    const alerts = join(folder, 'alerts.yml');
    writeFileSync(alerts, rules(readFileSync(alerts, 'utf8')));
    if (token !== undefined) writeFileSync(join(folder, 'metrics-token'), token);
    const port = await freePort();
    const flags = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ];
    const started = new Prometheus(
      folder,
      spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'inherit'] }),
      port,
    );
    try {
      await eventually(() => started.#isReady(), Boolean);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGKILL');
      await once(this.#process, 'close');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @throws Error with what Prometheus says of a query that it does not take */
  async query(query: string): Promise<Sample[]> {
    return (await this.#get(`query?query=${encodeURIComponent(query)}`)).result;
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.#get('rules?type=alert');
    return groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
  }

  /** Waits until an alert fires. @returns what it says */
  async fires(name: string): Promise<Readonly<Record<string, string>>> {
    const rules = await eventually(
      () => this.rules(),
      (found) => firingIn(found, name) !== undefined,
      FIRES_WITHIN_MS,
    );
    return firingIn(rules, name)?.annotations ?? {};
  }

  async isFiring(name: string): Promise<boolean> {
    return firingIn(await this.rules(), name) !== undefined;
  }

  /** Waits until an alert fires no more. */
  async ends(name: string): Promise<void> {
    await eventually(
      () => this.isFiring(name),
      (fires) => !fires,
      FIRES_WITHIN_MS,
    );
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.#url}/-/ready`)).ok;
    } catch {
      return false;
    }
  }

  async #get(path: string): Promise<any> {
    const answer: any = await (await fetch(`${this.#url}/api/v1/${path}`)).json();
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }
}

function firingIn(rules: readonly Rule[], name: string): Rule['alerts'][number] | undefined {
  return rules.find((rule) => rule.name === name)?.alerts.find(({ state }) => state === 'firing');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
