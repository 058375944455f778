import { LRUCache } from 'lru-cache';
import type { KeyRefusal, ModelFailure } from '../domain/judge/model-client.js';
import type { ModelObserver } from '../observability/events/judges.js';

/** Models are named by projects, so their number is bounded. */
const MAX_MODELS = 1_000;
/** A key that is accepted for nothing is refused for all models at once. */
const ALL_MODELS = '';

/** What the endpoint does not accept the key for: said once when that begins, and once when it ends. */
export class KeyRefusals {
  readonly #refusals = new LRUCache<string, KeyRefusal>({ max: MAX_MODELS });
  readonly #observer: Pick<ModelObserver, 'keyRefused' | 'keyAccepted'>;

  constructor(observer: Pick<ModelObserver, 'keyRefused' | 'keyAccepted'>) {
    this.#observer = observer;
  }

  of(model: string): KeyRefusal | null {
    return this.#refusals.get(ALL_MODELS) ?? this.#refusals.get(model) ?? null;
  }

  /** Notes a failed call. @returns whether it is a refusal of the key */
  refused(model: string, { code, detail }: Pick<ModelFailure, 'code' | 'detail'>): boolean {
    if (code !== '401' && code !== '403') return false;
    // Who is refused a model is known.
    if (code === '403') this.#refusals.delete(ALL_MODELS);
    const about = code === '401' ? ALL_MODELS : model;
    if (this.#refusals.has(about)) return true;
    const status = Number(code);
    this.#refusals.set(about, { status, since: Date.now() * 1000 });
    this.#observer.keyRefused({ status, model, detail });
    return true;
  }

  accepted(model: string): void {
    const wasRefused = [ALL_MODELS, model].filter((about) => this.#refusals.delete(about)).length > 0;
    if (wasRefused) this.#observer.keyAccepted({ model });
  }
}
