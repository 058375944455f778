import { RowsOfResults } from '../features/experiments/judged-rows.js';
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { ExampleSource } from '../features/judges/examples.js';
import { JudgeCaller } from '../features/judges/judge-caller.js';
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
  /** Stores calls of models as spans, and counts what they cost. */
  storeSpans(projectId: string, spans: readonly Span[]): Promise<void>;
}

export interface ModelParts {
  readonly ingest: Pick<SpanIngest, 'storeSpans'>;
  readonly price: PriceModelCall;
  readonly examples: ExampleSource;
}

export async function openModels(
  context: Context,
  { metadata: { prompts, experiments, datasets, datasetRows } }: Storage,
  { ingest, price, examples }: ModelParts,
): Promise<Models> {
  const client = await openClient(context);
  const rows = new RowsOfResults({ experiments, datasets, rows: datasetRows });
  return {
    endpoint: client && { client, caller: new JudgeCaller({ client, prompts, examples, rows }) },
    async storeSpans(projectId, spans) {
      await ingest.storeSpans(projectId, 'judge', spans);
      const cost = spans.reduce((sum, span) => sum + (costOf(span, projectId, price) ?? 0), 0);
      context.events.modelCallsPriced({ cost });
    },
  };
}

/** The library of the client is loaded only when an endpoint is configured. */
async function openClient({ config, events }: Context): Promise<ModelClient | null> {
  const { llm, concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes } = config.judges;
  if (llm === null) return null;
  const { OpenAiModelClient } = await import('../engine/models/openai-client.js');
  const limits = { concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes };
  return new OpenAiModelClient({ ...llm, ...limits }, events);
}
