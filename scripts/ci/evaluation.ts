import { spawn } from 'node:child_process';
import { CiError } from './ci-error.js';
import { SIGNALS } from './interruption.js';

/** Runs the program that makes the results, with what it needs to know in its environment. @throws CiError when it fails */
export function runEvaluation(command: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    let interrupted: string | null = null;
    const forward = (signal: NodeJS.Signals) => {
      interrupted = signal;
      child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const end = (error?: CiError) => {
      for (const signal of SIGNALS) process.off(signal, forward);
      if (error === undefined) resolve();
      else reject(error);
    };
    child.once('error', (error) => end(new CiError(`The command cannot be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      const how = interrupted ?? signal;
      if (how !== null) end(new CiError(`The command was ended by ${how}.`));
      else if (code !== 0) end(new CiError(`The command failed with exit code ${code ?? 'unknown'}.`));
      else end();
    });
  });
}
