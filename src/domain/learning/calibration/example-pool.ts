import type { JudgedSpan } from '../../judge/span-reader.js';
import { excerptOf } from './excerpt.js';
import { truthOf, type Truth } from './opinion.js';
import type { ExampleCorrection } from './correction.js';
import { WordIndex } from './word-index.js';

/** A correction that a judge can be shown: with the step that it is about, cut to what an example shows. */
export interface PoolEntry extends Step {
  readonly correction: ExampleCorrection;
  readonly truth: Truth;
}

/** What an example shows of a span. */
export interface Step {
  readonly input: string | null;
  readonly output: string | null;
}

/** How much of an input and of an output an example shows, in characters. */
const MAX_TEXT = 1_600;
/**
 * The newest correction of each of a bounded number of spans, with an index of their words. What is in it depends on
 * the corrections alone, not on the order in which they were taken in.
 */
export class ExamplePool {
  readonly #size: number;
  /** By span id, oldest correction first. */
  readonly #entries = new Map<string, PoolEntry>();
  readonly #index = new WordIndex();
  /** Up to which all corrections were taken in. */
  revision = 0;

  /** @param size spans that are kept at most */
  constructor(size: number) {
    this.#size = size;
  }

  /** Of the spans, oldest correction first. */
  entries(): IterableIterator<PoolEntry> {
    return this.#entries.values();
  }

  /**
   * Corrections are taken in from the oldest to the newest; one of a span that is there replaces it.
   * @param step null: there is no such span (any more), so nothing can be told of it
   */
  add(correction: ExampleCorrection, step: Step | null): void {
    this.#remove(correction.span_id);
    if (step === null) return;
    const entry: PoolEntry = { correction, truth: truthOf(correction, correction.evaluation), ...step };
    this.#entries.set(correction.span_id, entry);
    this.#index.add(correction.span_id, textOf(entry));
    if (this.#entries.size <= this.#size) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#remove(oldest);
  }

  /** Likeness of the spans to a step by BM25 over the words of input and output, from 0 to 1; what has none is left out. */
  likeness(step: Step): Map<string, number> {
    const scores = this.#index.scores(textOf(step));
    const best = Math.max(...scores.values());
    return new Map([...scores].map(([id, score]) => [id, score / best]));
  }

  #remove(spanId: string): void {
    this.#index.remove(spanId);
    this.#entries.delete(spanId);
  }
}

export function stepOf({ input, output }: Pick<JudgedSpan, 'input' | 'output'>): Step {
  return { input: excerptOf(input?.text ?? null, MAX_TEXT), output: excerptOf(output?.text ?? null, MAX_TEXT) };
}

function textOf({ input, output }: Step): string {
  return `${input ?? ''}\n${output ?? ''}`;
}
