import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { unhurried } from './program.js';

/** Longer than anything takes. */
const WITHIN_MS = 120_000;
const LOOK_MS = 2;

/** Waits until a condition holds, looking often enough to act in the middle of what follows. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const withinMs = unhurried(WITHIN_MS);
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(LOOK_MS);
  }
}

/** Becomes true when a file is made, written or removed from now on. */
export function changes(path: string): () => boolean {
  const now = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const before = now();
  return () => now() !== before;
}
