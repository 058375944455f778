import { LRUCache } from 'lru-cache';
import { tokensOf } from '../../engine/excerpt.js';
import type { SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { CorrectionStore } from './correction.js';
import { ExamplePool, newestOfSpans, stepOf } from './example-pool.js';
import { examplesMessage, selectExamples } from './selection.js';

/** What corrections add to a call of a judge's model, on average. */
export interface ExamplesWeight {
  /** Corrections that a call shows. */
  readonly corrections: number;
  readonly tokens: number;
}

export interface ExamplesWeightsOptions {
  readonly corrections: Pick<CorrectionStore, 'revision' | 'examples'>;
  readonly spans: Pick<SpanReader, 'find'>;
  /** As of `CorrectionExamples`. */
  readonly maxTokens: number;
}

/** Spans with the newest corrections that are read: one read, and more than a call shows. */
const SPANS = 100;
/** Spans that examples are chosen for. */
const CHOSEN_FOR = 20;
/** Most judges whose weights are kept, and for how long: what is chosen from changes with each correction. */
const KEPT = { max: 1_000, ttl: 5 * 60_000 };

/**
 * Estimates how much longer the requests of judges are for what people corrected. Examples are chosen for spans that were
 * corrected, as if they came again: these are spans of the judge, and are there to be read.
 */
export class ExamplesWeights {
  readonly #options: ExamplesWeightsOptions;
  /** By judge and revision; calls that come together wait for one read. */
  readonly #known = new LRUCache<string, Promise<ExamplesWeight>>(KEPT);

  constructor(options: ExamplesWeightsOptions) {
    this.#options = options;
  }

  /** Null: the judge is shown none. @throws DomainError `unavailable` */
  async of(projectId: string, judgeId: string): Promise<ExamplesWeight | null> {
    const { corrections, maxTokens } = this.#options;
    const revision = maxTokens === 0 ? 0 : corrections.revision(judgeId);
    if (revision === 0) return null;
    const key = `${judgeId} ${revision}`;
    const known = this.#known.get(key) ?? this.#weigh(projectId, judgeId);
    this.#known.set(key, known);
    try {
      return await known;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  async #weigh(projectId: string, judgeId: string): Promise<ExamplesWeight> {
    const { corrections, spans, maxTokens } = this.#options;
    const newest = newestOfSpans(corrections.examples(judgeId, 0, 2 * SPANS)).slice(-SPANS);
    const ids = newest.map(({ span_id }) => span_id);
    const found = await spans.find(projectId, ids);
    const pool = new ExamplePool(SPANS);
    for (const correction of newest) {
      const span = found.get(correction.span_id);
      pool.add(correction, span === undefined ? null : stepOf(span));
    }
    const seen = ids.flatMap((id) => found.get(id) ?? []).slice(-CHOSEN_FOR);
    const sum = { corrections: 0, tokens: 0 };
    for (const { input, output } of seen) {
      const chosen = selectExamples(pool, { id: '', input, output }, maxTokens);
      sum.corrections += chosen.length;
      sum.tokens += chosen.length === 0 ? 0 : tokensOf(examplesMessage(chosen));
    }
    const mean = (total: number) => (seen.length === 0 ? 0 : Math.round(total / seen.length));
    return { corrections: mean(sum.corrections), tokens: mean(sum.tokens) };
  }
}
