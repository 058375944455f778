import { setTimeout as sleep } from 'node:timers/promises';

/** Spreads calls evenly, so that no minute holds more than this many; null: no limit. */
export function createPace(perMinute: number | null): (signal: AbortSignal) => Promise<void> {
  if (perMinute === null) return () => Promise.resolve();
  const gapMs = 60_000 / perMinute;
  let next = 0;
  return async (signal) => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + gapMs;
    if (at > now) await sleep(at - now, undefined, { signal });
  };
}
