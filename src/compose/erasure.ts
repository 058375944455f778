import { BackgroundLoop } from '../domain/job/background-loop.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** The first one after a start: it is not known when the last one was. */
const FIRST_MS = 10 * 60_000;
const RETRY_MS = 60_000;
const MAX_RETRY_MS = 30 * 60_000;

/**
 * Has what is deleted or replaced erased from the files within the time that is promised. Half of that is left for what
 * was deleted just after one began, for rewriting, and for retries.
 */
export function openErasure({ config, events, closers }: Context, { metadata, traces }: Storage): void {
  if (config.eraseWithinMs === null) return;
  const everyMs = config.eraseWithinMs / 2;
  const loop: BackgroundLoop = new BackgroundLoop({
    async round() {
      const started = performance.now();
      let partitions: number;
      try {
        partitions = await traces.erase(loop.signal);
      } finally {
        metadata.erase();
      }
      events.erasureFinished({ partitions, seconds: (performance.now() - started) / 1000 });
      return everyMs;
    },
    onFailure: (error) => events.erasureFailed({ error }),
    retryMs: RETRY_MS,
    maxRetryMs: MAX_RETRY_MS,
  });
  closers.push(() => loop.close(new Error('The server stops; the next start goes on with erasing')));
  loop.wakeIn(Math.min(FIRST_MS, everyMs));
}
