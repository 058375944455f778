import { LRUCache } from 'lru-cache';
import { NO_EXAMPLES, type ExampleSource, type Examples } from '../judges/examples.js';
import type { Judge } from '../judges/judge.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import { ExamplePool, newestOfSpans, stepOf, type PoolEntry, type Step } from './example-pool.js';
import { examplesMessage, selectExamples } from './selection.js';
import type { CorrectionStore, ExampleCorrection } from './correction.js';
import { examplesId } from './versions.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface CorrectionExamplesOptions {
  readonly corrections: CorrectionStore;
  readonly spans: Pick<SpanReader, 'find'>;
  /** Tokens that the examples of one evaluation may take, estimated; 0: none are shown. */
  readonly maxTokens: number;
  readonly observer: Pick<Signals, 'examplesChosen'>;
}

/** Most spans that examples are chosen from, those with the newest corrections. */
const POOL_SIZE = 1_000;
/** Most judges whose pools are kept. */
const MAX_POOLS = 64;
/** Age at which a pool is read again, as its spans may have been sent again. */
const MAX_AGE_MS = 5 * 60_000;
/** Spans read together: few, so that long ones do not fill the memory. */
const SPANS_AT_ONCE = 100;

interface Loading {
  readonly pool: ExamplePool;
  readonly done: Promise<void>;
}

/** Gives judges corrections of their evaluations as examples: the newest ones of similar spans. */
export class CorrectionExamples implements ExampleSource {
  readonly #options: CorrectionExamplesOptions;
  readonly #pools = new LRUCache<string, ExamplePool>({ max: MAX_POOLS, ttl: MAX_AGE_MS });
  readonly #loading = new Map<string, Loading>();

  constructor(options: CorrectionExamplesOptions) {
    this.#options = options;
  }

  /** Examples for a span. A new or changed correction counts from the next evaluation on. */
  async examplesFor(judge: Judge, span: JudgedSpan): Promise<Examples> {
    if (this.#options.maxTokens === 0) return NO_EXAMPLES;
    const revision = this.#options.corrections.revision(judge.id);
    if (revision === 0) return NO_EXAMPLES;
    const pool = await this.#pool(judge, revision);
    return { id: examplesId(pool.revision), ...this.#choose(pool, span) };
  }

  /** All that examples are chosen from now, oldest first, with the revision that it is of; 0: none are shown. */
  async all(judge: Judge): Promise<{ readonly revision: number; readonly entries: readonly PoolEntry[] }> {
    const { corrections, maxTokens } = this.#options;
    const revision = maxTokens === 0 ? 0 : corrections.revision(judge.id);
    if (revision === 0) return { revision: 0, entries: [] };
    const pool = await this.#pool(judge, revision);
    return { revision: pool.revision, entries: [...pool.entries()] };
  }

  /** Examples for a span, from corrections of allowed spans alone. */
  async examplesAmong(
    judge: Judge,
    span: JudgedSpan,
    isAllowed: (correction: ExampleCorrection) => boolean,
  ): Promise<Examples> {
    const revision = this.#options.corrections.revision(judge.id);
    const pool = await this.#pool(judge, revision);
    return { id: examplesId(pool.revision), ...this.#choose(pool, span, isAllowed) };
  }

  #choose(
    pool: ExamplePool,
    span: JudgedSpan,
    isAllowed?: (correction: ExampleCorrection) => boolean,
  ): Omit<Examples, 'id'> {
    const started = performance.now();
    const chosen = selectExamples(pool, span, this.#options.maxTokens, isAllowed);
    this.#options.observer.examplesChosen({ examples: chosen.length, seconds: (performance.now() - started) / 1000 });
    return {
      messages: chosen.length === 0 ? [] : [{ role: 'user', content: examplesMessage(chosen) }],
      span_ids: chosen.map(({ span_id }) => span_id),
    };
  }

  /** The pool with at least everything up to the revision, and nothing of a span that was deleted by now. */
  async #pool(judge: Judge, revision: number): Promise<ExamplePool> {
    for (;;) {
      const removal = this.#options.corrections.lastRemoval(judge.id);
      const isWhole = (pool: ExamplePool) => pool.revision >= Math.max(revision, removal);
      const known = this.#pools.get(judge.id);
      if (known !== undefined && isWhole(known)) return known;
      let loading = this.#loading.get(judge.id);
      if (loading === undefined) {
        const reusable = known !== undefined && known.revision >= removal ? known : undefined;
        const pool = reusable ?? new ExamplePool(POOL_SIZE);
        const done = this.#load(judge, pool, revision).finally(() => this.#loading.delete(judge.id));
        loading = { pool, done };
        this.#loading.set(judge.id, loading);
      }
      // The loaded pool may hold deleted spans, or lack new corrections, so it is checked again.
      await loading.done;
    }
  }

  /** Adds new corrections to a pool. @param known a revision that the set had a while ago */
  async #load(judge: Judge, pool: ExamplePool, known: number): Promise<void> {
    const { corrections, spans } = this.#options;
    // Whatever was waited for is reached, also where the store contradicts itself or the set has gone: else there would be no end.
    const reached = Math.max(known, corrections.revision(judge.id), corrections.lastRemoval(judge.id));
    const added = newestOfSpans(corrections.examples(judge.id, pool.revision, 2 * POOL_SIZE)).slice(-POOL_SIZE);
    const isNew = pool.revision === 0;
    const steps = new Map<string, Step>();
    for (let from = 0; from < added.length; from += SPANS_AT_ONCE) {
      const ids = added.slice(from, from + SPANS_AT_ONCE).map(({ span_id }) => span_id);
      for (const [id, span] of await spans.find(judge.project_id, ids)) steps.set(id, stepOf(span));
    }
    // All corrections are added in one turn of the event loop, since evaluations choose from the pool meanwhile.
    for (const correction of added) pool.add(correction, steps.get(correction.span_id) ?? null);
    pool.revision = Math.max(pool.revision, reached);
    // A pool that was there keeps its age: adding corrections does not renew its spans.
    if (isNew) this.#pools.set(judge.id, pool);
  }
}
