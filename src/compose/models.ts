import { RowsOfResults } from '../features/experiments/judged-rows.js';
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { ExampleSource } from '../features/judges/examples.js';
import { ModelBudgets } from '../features/budget/model-budgets.js';
import type { Announce } from '../features/webhooks/event.js';
import { JudgeCaller } from '../features/judges/judge-caller.js';
import { meteredClient } from '../features/judges/metered-client.js';
import type { ModelClient } from '../engine/models/model-client.js';
import { costOf, type PriceModelCall } from '../engine/traces/model/span/pricing.js';
import type { Span } from '../engine/traces/model/span/span.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** An endpoint of language models, and what has its models evaluate spans for judges. */
export interface ModelEndpoint {
  readonly client: ModelClient;
  readonly caller: JudgeCaller;
}

/** Language models that are asked here. */
export interface Models {
  /** Null: no endpoint is configured. */
  readonly endpoint: ModelEndpoint | null;
  /** What calls may cost: whoever begins one asks before. */
  readonly budgets: ModelBudgets;
  /** Stores calls of models as spans, and counts what they cost. */
  storeSpans(projectId: string, spans: readonly Span[]): Promise<void>;
}

export interface ModelParts {
  readonly ingest: Pick<SpanIngest, 'storeSpans'>;
  readonly price: PriceModelCall;
  readonly examples: ExampleSource;
  readonly budgets: ModelBudgets;
}

export async function openModels(
  context: Context,
  { metadata: { prompts, experiments, datasets, datasetRows } }: Storage,
  { ingest, price, examples, budgets }: ModelParts,
): Promise<Models> {
  const record = (projectId: string, cost: number | null) => budgets.record(projectId, cost);
  const opened = await openClient(context);
  const client = opened && meteredClient(opened, { price, record });
  const rows = new RowsOfResults({ experiments, datasets, rows: datasetRows });
  return {
    budgets,
    endpoint: client && { client, caller: new JudgeCaller({ client, prompts, examples, rows }) },
    async storeSpans(projectId, spans) {
      await ingest.storeSpans(projectId, 'judge', spans);
      const cost = spans.reduce((sum, span) => sum + (costOf(span, projectId, price) ?? 0), 0);
      context.events.modelCallsPriced({ cost });
    },
  };
}

/** What the calls of models may cost that the server makes for projects. */
export function openBudgets(
  { events, closers, overrides }: Context,
  { metadata, audit }: Storage,
  announce: Announce,
): ModelBudgets {
  const budgets = new ModelBudgets({
    ...{ store: metadata.budgets, audit, announce, observer: events },
    together: (work) => metadata.together(work),
    ...(overrides.budgetClock && { now: overrides.budgetClock }),
  });
  closers.push(() => budgets.close());
  return budgets;
}

/** The library of the client is loaded only when an endpoint is configured. */
async function openClient({ config, events }: Context): Promise<ModelClient | null> {
  const { llm, concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes } = config.judges;
  if (llm === null) return null;
  const { OpenAiModelClient } = await import('../engine/models/openai-client.js');
  const limits = { concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes };
  return new OpenAiModelClient({ ...llm, ...limits }, events);
}
