import { tokensOf } from '../../engine/excerpt.js';
import type { ModelRequest } from '../../engine/models/model-client.js';
import { costOf, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { estimatedCost } from '../judges/estimated-cost.js';

/** Output tokens of an answer, before one is known. */
export const EXPECTED_OUTPUT_TOKENS = 300;

/** Tokens of a request, estimated. */
export function inputTokensOf({ messages }: ModelRequest): number {
  return messages.reduce((sum, { content }) => sum + tokensOf(content), 0);
}

/** What a run has cost and what its next call may cost, so that it stops in time. */
export class RunCost {
  readonly #price: PriceModelCall;
  readonly #projectId: string;
  readonly #max: number | null;
  /** Of what is stored; null: unknown. */
  #spent: number | null;
  /** Expected of calls in progress. */
  #reserved = 0;
  #underWay = 0;
  /** Of the dearest result that there was. */
  #dearest: number | null = null;

  constructor(price: PriceModelCall, projectId: string, max: number | null, spent: number | null) {
    this.#price = price;
    this.#projectId = projectId;
    this.#max = max;
    this.#spent = spent;
  }

  get spent(): number | null {
    return this.#spent;
  }

  /** Whether nothing is known yet of what a call costs, and there is a bound: then one is made alone. */
  get isUnknown(): boolean {
    return this.#max !== null && this.#dearest === null;
  }

  /** Reserves what a call may cost. @returns null: that would be too much */
  reserve(request: ModelRequest): number | null {
    const tokens = { input: inputTokensOf(request), output: EXPECTED_OUTPUT_TOKENS };
    const estimate = estimatedCost(this.#price, this.#projectId, request.model, tokens).cost ?? 0;
    const expected = Math.max(estimate, this.#dearest ?? 0);
    if (this.#max !== null && (this.#spent ?? 0) + this.#reserved + expected > this.#max) return null;
    this.#reserved += expected;
    this.#underWay += 1;
    return expected;
  }

  /** Whether calls are in progress for which something is reserved. */
  get isReserved(): boolean {
    return this.#underWay > 0;
  }

  release(reserved: number): void {
    this.#reserved -= reserved;
    this.#underWay -= 1;
  }

  /**
   * Adds what the calls of a result cost. Failed calls without tokens cost nothing that is known.
   * @param expected of a call that was answered: it counts where the answer has no tokens, or its model no price
   */
  add(spans: readonly Span[], expected: number): void {
    const costs = spans.flatMap((span) => costOf(span, this.#projectId, this.#price) ?? []);
    if (costs.length === 0 && expected === 0) return;
    const cost = costs.length === 0 ? expected : costs.reduce((sum, each) => sum + each, 0);
    this.#spent = (this.#spent ?? 0) + cost;
    this.#dearest = Math.max(this.#dearest ?? 0, cost);
  }
}
