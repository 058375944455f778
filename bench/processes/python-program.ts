import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const START_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 20_000;
const LAST_WORDS = 4_000;

const exec = promisify(execFile);

/** A package of the Python package index in a virtual environment of its own. */
export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** Folder of its programs. */
  readonly bin: string;
}

export interface PythonProgram {
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Installs a package, unless the environment in this folder has it.
 * @throws Error when Python or the package cannot be had
 */
export async function installed(name: string, folder: string): Promise<PythonPackage> {
  const bin = join(folder, 'bin');
  if (!existsSync(join(bin, 'python'))) await exec('python3', ['-m', 'venv', folder]);
  const version = () => versionOf(name, bin);
  if ((await version()) === null) {
    process.stderr.write(`Installing ${name} from the Python package index: this takes minutes\n`);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', name];
    await exec(join(bin, 'python'), install).catch((error: unknown) => {
      const { stderr = '' } = error as { readonly stderr?: string };
      throw new Error(`pip does not install ${name}: ${stderr.trim().split('\n').at(-1) ?? ''}`);
    });
  }
  const found = await version();
  if (found === null) throw new Error(`${name} is not there though pip installed it`);
  return { name, version: found, bin };
}

async function versionOf(name: string, bin: string): Promise<string | null> {
  const script = 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))';
  try {
    const { stdout } = await exec(join(bin, 'python'), ['-c', script, name]);
    return stdout.trim();
  } catch {
    return null;
  }
}

/**
 * Starts a server in a folder of its own, which is its home, too, and waits until an address of it answers 200.
 * @throws Error with its last words when it does not
 */
export async function startPython(
  { bin }: PythonPackage,
  {
    command,
    folder,
    env,
    ready,
  }: {
    readonly command: readonly [string, ...string[]];
    readonly folder: string;
    readonly env: Readonly<Record<string, string>>;
    readonly ready: string;
  },
): Promise<PythonProgram> {
  const [program, ...args] = command;
  const child = spawn(join(bin, program), args, {
    cwd: folder,
    env: { PATH: [bin, process.env['PATH']].join(':'), HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that its workers end with it.
    detached: true,
  });
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-LAST_WORDS)));
  child.once('error', (error) => (words += error.message));
  const stop = stopper(child);
  const started = performance.now();
  while (!(await answers(ready))) {
    const late = performance.now() - started > START_TIMEOUT_MS;
    if (!late && child.pid !== undefined && running(child)) {
      await sleep(250);
      continue;
    }
    await stop();
    throw new Error(`${program} does not start:\n${words}`);
  }
  return { pid: child.pid ?? NaN, stop };
}

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
  await response?.arrayBuffer();
  return response?.ok === true;
}

function running({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Ends a program with all of its group, once, also when the bench itself is told to end. */
function stopper(child: ChildProcess): () => Promise<void> {
  const interrupted = () => {
    signal(child, 'SIGKILL');
    process.exit(130);
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupted);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    signal(child, 'SIGTERM');
    if (running(child)) await Promise.race([once(child, 'exit'), sleep(STOP_TIMEOUT_MS)]);
    signal(child, 'SIGKILL');
    if (child.pid !== undefined && running(child)) await once(child, 'exit');
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupted);
  };
  return () => (stopped ??= stop());
}

function signal({ pid }: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // All of the group have ended.
  }
}
