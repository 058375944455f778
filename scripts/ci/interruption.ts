import { CiError } from './ci-error.js';

/** How CI and people end a command. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A wait for the server was ended; what it waited for goes on. */
export class InterruptedError extends CiError {}

/** Does the work, unless a signal ends it: then it is left alone. @param advice how to resume it @throws InterruptedError */
export async function interruptible<T>(work: () => Promise<T>, advice: string): Promise<T> {
  let end: (signal: string) => void = () => undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    end = (signal) => reject(new InterruptedError(`Interrupted by ${signal}. ${advice}`));
  });
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
