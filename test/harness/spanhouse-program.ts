import { execFile } from 'node:child_process';
import { programFile } from './program-files.js';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Scene {
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command says when it is to be interrupted. */
  readonly interruptAt?: string;
}

/** The command of the package, which faults-packed.test.ts starts as it is installed. */
export const SPANHOUSE = programFile('spanhouse');

/** Runs the command as people do. */
export function runSpanhouse(args: readonly string[], { cwd, env, interruptAt }: Scene): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SPANHOUSE, ...args], { cwd, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    if (interruptAt === undefined) return;
    let said = '';
    const look = (text: string) => {
      said += text;
      if (!said.includes(interruptAt)) return;
      child.stdout?.off('data', look);
      child.stderr?.off('data', look);
      child.kill('SIGINT');
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
  });
}
