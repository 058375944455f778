import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { excerptOf } from '../../engine/excerpt.js';
import { truthOf, type Truth } from './opinion.js';
import type { ExampleCorrection } from './correction.js';
import { WordIndex } from './word-index.js';

/** A correction that a judge can be shown: with the step that it is about, cut to what an example shows. */
export interface PoolEntry extends Step {
  readonly correction: ExampleCorrection;
  readonly truth: Truth;
  /** The line that shows it, where that was kept; absent: it is made of the rest. */
  readonly line?: string;
}

/** Input and output of a span, cut to what an example shows. */
export interface Step {
  readonly input: string | null;
  readonly output: string | null;
}

/** Most characters of an input and of an output in an example. */
const MAX_TEXT = 1_600;
/**
 * The newest correction of each of a bounded number of spans, with an index of their words. The content of a pool
 * depends on the corrections alone, not on the order in which they were added.
 */
export class ExamplePool {
  readonly #size: number;
  /** Entries by span id, oldest correction first. */
  readonly #entries = new Map<string, PoolEntry>();
  readonly #index = new WordIndex();
  /** Revision up to which all corrections were added. */
  revision = 0;

  /** @param size spans that are kept at most */
  constructor(size: number) {
    this.#size = size;
  }

  /** Entries of the spans, oldest correction first. */
  entries(): IterableIterator<PoolEntry> {
    return this.#entries.values();
  }

  /**
   * Adds a correction, from the oldest to the newest; another one of the same span is replaced.
   * @param step null: there is no such span (anymore), so there is no example of it
   */
  add(correction: ExampleCorrection, step: Step | null, line?: string): void {
    this.#remove(correction.span_id);
    if (step === null) return;
    const entry: PoolEntry = {
      correction,
      truth: truthOf(correction, correction.evaluation),
      ...step,
      ...(line !== undefined && { line }),
    };
    this.#entries.set(correction.span_id, entry);
    this.#index.add(correction.span_id, textOf(entry));
    if (this.#entries.size <= this.#size) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#remove(oldest);
  }

  /** Similarity of the spans to a step by BM25 over words of input and output, 0 to 1; spans with none are left out. */
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

/** The newest correction of each span, oldest first. @param corrections newest first */
export function newestOfSpans(corrections: readonly ExampleCorrection[]): ExampleCorrection[] {
  const newest = new Map<string, ExampleCorrection>();
  for (const correction of corrections) if (!newest.has(correction.span_id)) newest.set(correction.span_id, correction);
  return [...newest.values()].reverse();
}
