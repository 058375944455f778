import type { WorkUnderWay } from '../engine/work/work-under-way.js';
import { PlaygroundCalls } from '../features/playground/playground-calls.js';
import { PlaygroundService } from '../features/playground/playground-service.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import type { PriceModelCall } from '../engine/traces/model/span/pricing.js';
import type { Context } from './context.js';
import type { Models } from './models.js';
import type { Storage } from './storage.js';

export interface Playground {
  readonly playground: PlaygroundService;
  /** Work under way that a deletion has to stop for the spans it deletes. */
  readonly work: readonly WorkUnderWay[];
}

export interface PlaygroundParts {
  readonly prompts: Pick<PromptService, 'find'>;
  readonly models: Models;
  readonly price: PriceModelCall;
}

/** Opens the playground, which asks models when there is an endpoint. */
export function openPlayground(
  { config: { judges }, closers }: Context,
  { metadata, traces }: Storage,
  { prompts, models, price }: PlaygroundParts,
): Playground {
  const requireBudget = (projectId: string) => models.budgets.require(projectId);
  if (models.endpoint === null || judges.llm === null)
    return { playground: new PlaygroundService({ prompts, price, requireBudget, endpoint: null }), work: [] };
  const { client } = models.endpoint;
  const calls = new PlaygroundCalls({
    client,
    timeoutSeconds: judges.llm.timeoutSeconds,
    spans: traces.spans,
    notes: metadata.callNotes,
    storeSpans: models.storeSpans,
    price,
  });
  closers.push(() => calls.close());
  const endpoint = { defaultModel: client.defaultModel, calls };
  return { playground: new PlaygroundService({ prompts, price, requireBudget, endpoint }), work: [calls] };
}
