import { setTimeout as sleep } from 'node:timers/promises';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { restMs, type Governor } from '../../engine/work/governor.js';

export interface ImportPaceParts {
  readonly governor: Pick<Governor, 'clientsCall'>;
  /** Resolves once lists need not compute figures of what was written to a project. */
  readonly rolledUp: (projectId: string) => Promise<unknown>;
}

/** For how long an import waits for a round. */
const ROLLED_UP_MS = 2_000;
/** Clients and proxies wait longer for an answer. */
const LONGEST_WAIT_MS = 45_000;
/** Of one project; each holds its records in memory. */
const MAX_WAITING = 16;

/**
 * How imports share the server with clients: as fast as they can while they are alone, otherwise one request of all of them at a
 * time, with pauses. Projects that import take turns.
 */
export class ImportPace {
  readonly #parts: ImportPaceParts;
  readonly #turns = new FairSemaphore('import requests', {
    atOnce: 1,
    maxWaitMs: LONGEST_WAIT_MS,
    maxWaiting: MAX_WAITING,
  });

  constructor(parts: ImportPaceParts) {
    this.#parts = parts;
  }

  /** Does the work of a request when it may. @throws DomainError `overloaded`; the signal's reason; what the work throws */
  async run<T>(projectId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#parts.governor.clientsCall) return work();
    const end = await this.#turns.take(projectId, signal);
    const started = performance.now();
    try {
      return await work();
    } finally {
      // It is answered at once; the next one waits.
      void this.#rest(projectId, started).then(end);
    }
  }

  async #rest(projectId: string, started: number): Promise<void> {
    const { governor, rolledUp } = this.#parts;
    if (!governor.clientsCall) return;
    // Left to itself, a round begins when the next request comes, and lists would always be slow.
    await Promise.race([rolledUp(projectId).catch(() => undefined), pause(ROLLED_UP_MS)]);
    // By what the request took it follows how busy the server is.
    await pause(restMs('import', performance.now() - started));
  }
}

const pause = (ms: number) => sleep(ms, undefined, { ref: false });
