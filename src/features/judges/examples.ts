import type { Judge } from './judge.js';
import type { ChatMessage } from '../../engine/models/model-client.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';

/** Examples that a judge is shown before the span to evaluate. */
export interface Examples {
  /** Names the set of examples; part of the version of the judge. Null: none. */
  readonly id: string | null;
  /** Messages between the instruction and the span. */
  readonly messages: readonly ChatMessage[];
  /** Spans that the examples show parts of. */
  readonly span_ids: readonly string[];
}

/**
 * Chooses examples for an evaluation, such as corrections that people made.
 * @throws DomainError `unavailable`: the run is tried again
 */
export interface ExampleSource {
  examplesFor(judge: Judge, span: JudgedSpan): Examples | Promise<Examples>;
}

export const NO_EXAMPLES: Examples = { id: null, messages: [], span_ids: [] };
