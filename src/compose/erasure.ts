import type { FileErasure } from '../engine/traces/model/deletion/erasure.js';
import { DomainError } from '../engine/errors.js';
import { RETRIES } from '../engine/work/backoff.js';
import { BackgroundLoop } from '../engine/work/background-loop.js';
import { isMoving } from '../features/move/store/move-mark.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** The first one after a start: it is not known when the last one was. */
const FIRST_MS = 10 * 60_000;

/**
 * Has what is deleted or replaced erased from the files within the time that is promised, and whenever that is ordered. Half
 * of the time is left for what was deleted just after an erasure began, for rewriting, and for retries.
 */
export function openErasure({ config, events, closers }: Context, { metadata, traces }: Storage): FileErasure {
  const stop = new AbortController();
  const stops = new DomainError('unavailable', 'The server is stopping: the next erasure resumes from there');
  let last: Promise<unknown> = Promise.resolve();
  const run: FileErasure['run'] = async (signal, onProgress) => {
    signal.throwIfAborted();
    const started = performance.now();
    try {
      const erased = await traces.erase(signal, onProgress);
      const partitions = erased.rewritten.reduce((sum, table) => sum + table.partitions, 0);
      events.erasureFinished({ partitions, seconds: (performance.now() - started) / 1000 });
      return erased;
    } finally {
      metadata.erase();
    }
  };
  /** One at a time: two would wait for each other's rewriting. */
  const inTurn: FileErasure['run'] = (signal, onProgress) => {
    const turn = last.then(() => run(AbortSignal.any([signal, stop.signal]), onProgress));
    last = turn.catch(() => undefined);
    return turn;
  };
  closers.push(async () => {
    stop.abort(stops);
    await last;
  });
  if (config.eraseWithinMs !== null) {
    const everyMs = config.eraseWithinMs / 2;
    const loop: BackgroundLoop = new BackgroundLoop({
      async round() {
        await inTurn(loop.signal, () => undefined);
        return everyMs;
      },
      onFailure: (error) => events.erasureFailed({ error }),
      retry: RETRIES.large,
    });
    closers.push(() => loop.close(stops));
    loop.wakeIn(Math.min(FIRST_MS, everyMs));
  }
  return {
    async run(signal, onProgress) {
      if (isMoving(config.dataDir))
        throw new DomainError(
          'conflict',
          'The spans are being moved, and deleted data stays until the move ends: erase after the move',
        );
      return inTurn(signal, onProgress);
    },
  };
}
