import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/engine/files/schema-files.js';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Scene {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command says when it is to be interrupted. */
  readonly interruptAt?: string;
}

/** Runs `spanhouse ci` as CI does. */
export function runCi(args: readonly string[], { cwd, env, interruptAt }: Scene): Promise<Run> {
  const program = [join(packageRoot(), 'scripts/spanhouse.mjs'), 'ci', ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, program, { cwd, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    if (interruptAt === undefined) return;
    let said = '';
    const look = (text: string) => {
      said += text;
      if (!said.includes(interruptAt)) return;
      child.stderr?.off('data', look);
      child.kill('SIGINT');
    };
    child.stderr?.on('data', look);
  });
}
