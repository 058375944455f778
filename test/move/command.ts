import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestEngine } from '../engine/contract/engines.js';
import { PROGRAM_ENV, programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const PROGRAM = programFile('admin');

/** The settings of a server whose spans are in an engine. */
export function settingsFor({ endpoint }: TestEngine, database: string): Record<string, string> {
  return {
    CLICKHOUSE_URL: endpoint.url,
    CLICKHOUSE_USER: endpoint.username,
    CLICKHOUSE_PASSWORD: endpoint.password,
    CLICKHOUSE_DATABASE: database,
  };
}

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...PROGRAM_ENV, ...settings };
}

/** What a move answers, as JSON. @throws Error with what it says on a failure */
export async function move(dataDir: string, to: string, settings: Readonly<Record<string, string>>): Promise<any> {
  const args = [PROGRAM, '--json', '--data-dir', dataDir, 'move', ...(to === 'cancel' ? ['--cancel'] : ['--to', to])];
  try {
    const { stdout } = await run(process.execPath, args, { env: environment(settings) });
    return JSON.parse(stdout);
  } catch (failed) {
    const { stderr } = failed as { stderr?: string };
    throw new Error(stderr ?? String(failed), { cause: failed });
  }
}

/** What a move says that has to fail. */
export async function refused(
  dataDir: string,
  to: string,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const answer: unknown = await move(dataDir, to, settings).catch((error: unknown) => error);
  if (answer instanceof Error) return answer.message;
  throw new Error(`the move was not refused: ${JSON.stringify(answer)}`);
}

/** A move to be killed. */
export function spawnMove(dataDir: string, to: string, settings: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [PROGRAM, '--data-dir', dataDir, 'move', '--to', to], {
    env: environment(settings),
    stdio: 'ignore',
  });
}
