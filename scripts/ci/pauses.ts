import { setTimeout as sleep } from 'node:timers/promises';

/** How often the server is asked how far it is, of what takes long. */
export const POLL_MS = 2_000;
const FIRST_MS = 250;

/** Pauses between looks at what the server does: short ones first, as little work is soon done. */
export function pauses(): () => Promise<void> {
  let next = FIRST_MS;
  return async () => {
    await sleep(next);
    next = Math.min(POLL_MS, 2 * next);
  };
}
