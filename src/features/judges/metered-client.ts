import type { ModelAnswer, ModelClient, ModelRequest } from '../../engine/models/model-client.js';
import { costOf, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Micros } from '../../engine/timestamp.js';
import { callAttributes } from './call-spans.js';

export interface Meter {
  readonly price: PriceModelCall;
  /** Counts an answered call; resolves once it is stored. @param cost US dollars; null: unknown */
  readonly record: (projectId: string, cost: number | null) => Promise<void>;
}

/** A client whose answered calls are all counted, each at the cost that its span gets. */
export function meteredClient(client: ModelClient, { price, record }: Meter): ModelClient {
  const costOfCall = (projectId: string, { model }: ModelRequest, answer: ModelAnswer, started_at: Micros) =>
    costOf({ kind: 'llm', attributes: callAttributes(model, answer), started_at }, projectId, price);
  return {
    defaultModel: client.defaultModel,
    refusedKey: (projectId, model) => client.refusedKey(projectId, model),
    async complete(projectId, request, signal) {
      const startedAt = Date.now() * 1000;
      const answer = await client.complete(projectId, request, signal);
      await record(projectId, costOfCall(projectId, request, answer, startedAt));
      return answer;
    },
  };
}
