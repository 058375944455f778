import { LRUCache } from 'lru-cache';
import { Breaker, type Retry } from '../../engine/work/backoff.js';

/** Breakers kept: more than there are models in use at once. One that is dropped is learned again by the next calls. */
const MAX_KEPT = 10_000;

/**
 * A breaker for each model of each project, at the one endpoint: a name that no model has, or a model that is down, holds
 * back the project that asks for it and no one else. When the endpoint is down, each project finds out by itself.
 */
export class Breakers {
  readonly #breakers: LRUCache<string, Breaker>;

  constructor(retry: Retry) {
    this.#breakers = new LRUCache({ max: MAX_KEPT, memoMethod: () => new Breaker(retry) });
  }

  of(projectId: string, model: string): Breaker {
    return this.#breakers.memo(`${projectId}/${model}`);
  }

  /** How many hold calls back. @param asked whether a call that one let through is in progress */
  open(asked: (breaker: Breaker) => boolean): number {
    return [...this.#breakers.values()].filter((breaker) => breaker.isOpen(asked(breaker))).length;
  }
}
