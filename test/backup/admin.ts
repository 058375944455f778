import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../harness/until.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
export const PROGRAM = programFile('admin');

/** What a command of the admin program answers, as JSON. @throws Error with what it says on a failure */
export async function admin(dataDir: string, ...args: string[]): Promise<any> {
  try {
    const { stdout } = await run(process.execPath, [PROGRAM, '--json', '--data-dir', dataDir, ...args]);
    return JSON.parse(stdout);
  } catch (failed) {
    throw new Error((failed as { stderr: string }).stderr, { cause: failed });
  }
}

/** What a command says that has to fail. */
export async function refused(dataDir: string, ...args: string[]): Promise<string> {
  const answer: unknown = await admin(dataDir, ...args).catch((error: unknown) => error);
  if (answer instanceof Error) return answer.message;
  throw new Error(`${args.join(' ')} was not refused: ${JSON.stringify(answer)}`);
}

/** A command to be killed. */
export function spawnAdmin(dataDir: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, '--data-dir', dataDir, ...args], { stdio: 'ignore' });
}

/**
 * Begins a command and kills it, so many milliseconds after it has begun its work.
 * @returns whether it was under way then
 */
export async function killAdmin(
  { begun, afterMs }: { readonly begun: () => boolean; readonly afterMs: number },
  dataDir: string,
  ...args: string[]
): Promise<boolean> {
  const child = spawnAdmin(dataDir, ...args);
  const ended = once(child, 'exit');
  await until(`${args[0] ?? ''} begins`, () => begun() || child.exitCode !== null);
  await sleep(afterMs);
  const wasRunning = child.exitCode === null;
  child.kill('SIGKILL');
  await ended;
  return wasRunning;
}
