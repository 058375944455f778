import {
  ModelFailure,
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
} from '../../engine/models/model-client.js';
import { costOf, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Micros } from '../../engine/timestamp.js';
import { callAttributes } from './call-spans.js';

export interface Meter {
  readonly price: PriceModelCall;
  /** Counts a call that has to be paid for; resolves once it is stored. @param cost US dollars; null: unknown */
  readonly record: (projectId: string, cost: number | null) => Promise<void>;
}

/**
 * A client whose calls are all counted that have to be paid for: those that were answered at the cost that their spans get, and others
 * as far as their failure says what is billed.
 */
export function meteredClient(client: ModelClient, { price, record }: Meter): ModelClient {
  const costOfCall = (projectId: string, { model }: ModelRequest, answer: ModelAnswer, started_at: Micros) =>
    costOf({ kind: 'llm', attributes: callAttributes(model, answer), started_at }, projectId, price);
  return {
    defaultModel: client.defaultModel,
    refusedKey: (projectId, model) => client.refusedKey(projectId, model),
    async complete(projectId, request, signal) {
      const startedAt = Date.now() * 1000;
      const count = (answer: ModelAnswer) => record(projectId, costOfCall(projectId, request, answer, startedAt));
      try {
        const answer = await client.complete(projectId, request, signal);
        await count(answer);
        return answer;
      } catch (error) {
        if (error instanceof ModelFailure && error.billed !== null) await count(error.billed);
        throw error;
      }
    },
  };
}
