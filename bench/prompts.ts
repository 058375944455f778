import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { median } from './figures.js';
import { wholeNumber } from './options.js';
import { startProgram, type PlainProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly write: boolean;
}

interface Target {
  readonly name: string;
  readonly url: URL;
  readonly process: PlainProcess;
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
    .option('--seconds <n>', 'how long each round of each server is', wholeNumber(1, 600), 3)
    .option('--rounds <n>', 'rounds, in turn over the servers; the median counts', wholeNumber(1, 99), 5)
    .option('--connections <n>', 'kept-alive connections, one request at a time on each', wholeNumber(1, 1000), 32)
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
    targets.push(await start('bare Express', './processes/bare-express.js', [body, 'true'], {}));
    targets.push(await start('bare Express without ETag', './processes/bare-express.js', [body, 'false'], {}));
    for (const target of targets) await measure(target.url, options.connections, 1);
    for (let round = 0; round < options.rounds; round += 1) {
      for (const { url, rates } of targets) rates.push(await measure(url, options.connections, options.seconds));
    }
    report(targets, options, { before, bytes: body.length });
  } finally {
    for (const { process } of targets) await process.stop();
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

function environment(dataDir: string): Record<string, string> {
  return {
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    SPANHOUSE_INIT_PROJECT_ID: '0199a1b2-0000-7000-8000-000000000001',
    SPANHOUSE_INIT_API_KEY: KEY,
  };
}

async function start(
  name: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Target> {
  const process = await startProgram([join(import.meta.dirname, program), ...args], env);
  return { name, url: new URL(`/v1/prompts/${encodeURIComponent(SLUG)}`, process.url), process, rates: [] };
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

/** Length of an answer's head and body together; null when its status is not 200. */
function answerLength(first: Buffer): number | null {
  const end = first.indexOf('\r\n\r\n');
  const head = first.toString('latin1', 0, end);
  const body = /^HTTP\/1\.1 200 [^]*\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return body === undefined ? null : end + 4 + Number(body);
}
