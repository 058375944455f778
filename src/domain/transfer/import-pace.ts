import { setTimeout as sleep } from 'node:timers/promises';
import { Turns } from '../turns.js';

/**
 * The pause after a request beside clients, in times that it took: rounds and merges go on when it is answered. It follows how busy
 * the server is, as requests then take longer.
 */
const REST = 3;
/** However long a request took, the next one begins after so long: an import is slow, and never stands still. */
const LONGEST_REST_MS = 2_000;
/** Clients and proxies wait longer for an answer. */
const LONGEST_WAIT_MS = 45_000;
/** Of one project; each holds its records in memory. */
const MOST_WAITING = 16;

/**
 * How imports share the server with clients: as fast as they can while they are alone, otherwise one request of all of them at a
 * time, with pauses. Projects that import take turns.
 */
export class ImportPace {
  readonly #besideClients: () => boolean;
  readonly #turns = new Turns('requests of imports', {
    atOnce: 1,
    maxWaitMs: LONGEST_WAIT_MS,
    maxWaiting: MOST_WAITING,
  });

  /** @param besideClients whether clients call the server now */
  constructor(besideClients: () => boolean) {
    this.#besideClients = besideClients;
  }

  /** Does the work of a request when it may. @throws DomainError `overloaded`; the signal's reason; what the work throws */
  async run<T>(projectId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#besideClients()) return work();
    const end = await this.#turns.take(projectId, signal);
    const started = performance.now();
    try {
      return await work();
    } finally {
      // It is answered at once; the next one waits.
      void this.#rest(performance.now() - started).then(end);
    }
  }

  async #rest(workedMs: number): Promise<void> {
    if (this.#besideClients()) await sleep(Math.min(LONGEST_REST_MS, workedMs * REST), undefined, { ref: false });
  }
}
