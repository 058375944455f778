import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly seconds: string;
  readonly rounds: string;
  readonly connections: string;
  readonly write: boolean;
}

interface Target {
  readonly name: string;
  readonly url: URL;
  readonly child: ChildProcess;
  readonly rates: number[];
}

const KEY = 'sk_sh_key_of_the_prompt_bench';
const SLUG = 'support/answer';
const CONTENT = 'You are the support assistant of {{shop}}. Be brief, kind and exact.\n'.repeat(20);

/** `prompts`: how many fetches of a prompt a second, against a bare Express route with the same body. */
export function register(program: Command): void {
  program
    .command('prompts')
    .description('fetch a prompt over HTTP, against a bare Express route that answers the same constant body')
    .option('--seconds <n>', 'how long each round of each server is', '3')
    .option('--rounds <n>', 'rounds, in turn over the servers; the median counts', '5')
    .option('--connections <n>', 'kept-alive connections, one request at a time on each', '32')
    .option('--no-write', 'print only')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const before = captureContext();
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-bench-prompts-'));
  const targets: Target[] = [];
  try {
    targets.push(await start('Spanhouse', '../src/main.js', [], environment(dataDir)));
    const body = await ensurePrompt(targets[0]?.url);
    targets.push(await start('bare Express', './processes/bare-express.js', [body, 'true'], process.env));
    targets.push(await start('bare Express without ETag', './processes/bare-express.js', [body, 'false'], process.env));
    for (const target of targets) await measure(target.url, Number(options.connections), 1);
    for (let round = 0; round < Number(options.rounds); round += 1) {
      for (const { url, rates } of targets)
        rates.push(await measure(url, Number(options.connections), Number(options.seconds)));
    }
    report(targets, options, { before, bytes: body.length });
  } finally {
    for (const { child } of targets) await stop(child);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function report(
  targets: readonly Target[],
  { connections, write }: Options,
  { before, bytes }: { before: ReturnType<typeof captureContext>; bytes: number },
): void {
  const own = median(targets[0]?.rates ?? []);
  const rows = targets.map(({ name, rates }) => {
    const rate = median(rates);
    const spread = `${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))}`;
    return [name, Math.round(rate), spread, (own / rate).toFixed(2)];
  });
  for (const row of rows) console.log(row.join(' | '));
  if (!write) return;
  writeResults({
    name: 'Prompts',
    command: 'npm run bench -- prompts',
    context: before,
    engine: 'not used',
    about:
      `\`GET /v1/prompts/{slug}\` (answer of ${bytes} bytes) over ${connections} kept-alive connections, each server in a ` +
      'process of its own, in turn; medians.',
    columns: ['server', 'requests/s', 'rounds', 'Spanhouse / it'],
    rows,
  });
}

function environment(dataDir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    SPANHOUSE_INIT_PROJECT_ID: '0199a1b2-0000-7000-8000-000000000001',
    SPANHOUSE_INIT_API_KEY: KEY,
  };
}

async function start(name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Target> {
  const file = join(import.meta.dirname, program);
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      const ready = /ready at (http:\/\/[\d.:]+)/.exec(out)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.once('exit', () => reject(new Error(`${name} did not start: ${out}`)));
  });
  return { name, url: new URL(`/v1/prompts/${encodeURIComponent(SLUG)}`, url), child, rates: [] };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Makes the prompt and answers what a fetch of it answers. */
async function ensurePrompt(url: URL | undefined): Promise<string> {
  if (url === undefined) throw new Error('there is no server');
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const ensure = new URL(`/v1/tasks/${encodeURIComponent(SLUG)}/prompt/versions/ensure`, url);
  const signal = AbortSignal.timeout(10_000);
  const made = await fetch(ensure, { method: 'POST', headers, body: JSON.stringify({ content: CONTENT }), signal });
  if (!made.ok) throw new Error(await made.text());
  const fetched = await fetch(url, { headers, signal });
  return fetched.text();
}

/**
 * Requests a second. Written on bare sockets, so that the client costs little beside the server: a server's answers to
 * one request all have the same length, which tells where the next begins.
 */
async function measure(url: URL, connections: number, seconds: number): Promise<number> {
  const request = Buffer.from(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${KEY}\r\nAccept: application/json\r\n\r\n`,
  );
  const started = performance.now();
  const until = started + seconds * 1000;
  const counts = await Promise.all(Array.from({ length: connections }, () => requestAgain(url, request, until)));
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - started) / 1000);
}

function requestAgain(url: URL, request: Buffer, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let length: number | null = null;
    let received = 0;
    let count = 0;
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      length ??= answerLength(chunk);
      received += chunk.length;
      if (length !== null && received < length) return;
      if (length === null || received > length) {
        socket.destroy(new Error(`not the answer that was expected: ${chunk.toString('latin1', 0, 200)}`));
        return;
      }
      received = 0;
      count += 1;
      if (performance.now() < until) socket.write(request);
      else {
        socket.destroy();
        resolve(count);
      }
    });
  });
}

/** Of head and body; null when it is no 200. */
function answerLength(first: Buffer): number | null {
  const end = first.indexOf('\r\n\r\n');
  const head = first.toString('latin1', 0, end);
  const body = /^HTTP\/1\.1 200 [^]*\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return body === undefined ? null : end + 4 + Number(body);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
