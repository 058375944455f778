import { execFile, type ChildProcess } from 'node:child_process';
import { PROGRAM_ENV, programFile } from '../harness/program-files.js';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `spanhouse import` as people do. @param onStart takes the process */
export function runImportProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<Ended> {
  const program = [programFile('spanhouse'), 'import', ...args];
  return new Promise((resolve) => {
    const given = { env: { ...PROGRAM_ENV, ...env }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(process.execPath, program, given, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
    onStart(child);
  });
}
