import { LRUCache } from 'lru-cache';
import type { KeyRefusal, ModelFailure } from './model-client.js';
import type { Signals } from '../signals/signals.js';

/** Models are named by projects, so their number is bounded. */
const MAX_MODELS = 1_000;
/** A model that answered within this time shows that the key is a good one. */
const RECENT_MS = 5 * 60_000;
/** A key that is accepted for nothing is refused for all models at once. */
const ALL_MODELS = '';
/** Error codes by which endpoints say that it is the key that they refuse. */
const OF_THE_KEY: ReadonlySet<string> = new Set(['invalid_api_key', 'incorrect_api_key']);

/**
 * What the endpoint does not accept the key for: said once when that begins, and once when it ends. Each project is told of
 * its own calls alone, as it may name models and send texts that are refused for what they are.
 */
export class KeyRefusals {
  /** By model, and then by project. */
  readonly #refusals = new LRUCache<string, Map<string, KeyRefusal>>({ max: MAX_MODELS });
  readonly #answered = new LRUCache<string, true>({ max: MAX_MODELS, ttl: RECENT_MS });
  readonly #observer: Pick<Signals, 'keyRefused' | 'keyAccepted'>;

  constructor(observer: Pick<Signals, 'keyRefused' | 'keyAccepted'>) {
    this.#observer = observer;
  }

  of(projectId: string, model: string): KeyRefusal | null {
    const found = [ALL_MODELS, model].map((about) => this.#refusals.get(about)?.get(projectId));
    return found.find((refusal) => refusal !== undefined) ?? null;
  }

  /** Notes a failed call. @returns whether a refusal of the key began with it, which the log then has */
  refused(projectId: string, model: string, failure: ModelFailure): boolean {
    const about = this.#about(model, failure);
    if (about === null) return false;
    const known = this.#refusals.get(about);
    const refusals = known ?? new Map<string, KeyRefusal>();
    const status = Number(failure.code);
    if (!refusals.has(projectId)) refusals.set(projectId, { status, since: Date.now() * 1000 });
    if (known !== undefined) return false;
    this.#refusals.set(about, refusals);
    this.#observer.keyRefused({ status, model, detail: failure.detail });
    return true;
  }

  accepted(model: string): void {
    this.#answered.set(model, true);
    const wasRefused = [ALL_MODELS, model].filter((about) => this.#refusals.delete(about)).length > 0;
    if (wasRefused) this.#observer.keyAccepted({ model });
  }

  /** The model, or all of them, for which a failure shows that the key is refused; null: it does not show that. */
  #about(model: string, { code, endpointCode }: ModelFailure): string | null {
    if (code === '401' || (code === '403' && OF_THE_KEY.has(endpointCode ?? ''))) {
      this.#answered.delete(model);
      return this.#answeredLately() ? model : ALL_MODELS;
    }
    if (code !== '403') return null;
    // Who is refused a model or a text is known.
    this.#refusals.delete(ALL_MODELS);
    return endpointCode === null && !this.#answeredLately() ? model : null;
  }

  #answeredLately(): boolean {
    return this.#answered.keys().next().done === false;
  }
}
