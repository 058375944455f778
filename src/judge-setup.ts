import type { JudgeConfig } from './config/config.js';
import type { Closers } from './clickhouse-setup.js';
import type { WorkUnderWay } from './domain/job/work-under-way.js';
import { EvaluationService } from './domain/judge/evaluation-service.js';
import { noExamples, type ExampleSource } from './domain/judge/examples.js';
import { ExplainService } from './domain/judge/explain-service.js';
import { JudgeFeed } from './domain/judge/feed.js';
import { JudgeCaller } from './domain/judge/judge-caller.js';
import { JudgeService } from './domain/judge/judge-service.js';
import type { ModelClient } from './domain/judge/model-client.js';
import { JudgeRunner } from './domain/judge/runner.js';
import { RunService } from './domain/judge/run-service.js';
import type { IngestService } from './domain/ingest/ingest-service.js';
import type { PromptService } from './domain/prompt/prompt-service.js';
import { costOf, type PriceModelCall } from './domain/span/pricing.js';
import type { Events } from './observability/events.js';
import type { TraceStore } from './storage/clickhouse/trace-store.js';
import type { Database } from './storage/sqlite/database.js';
import { SqliteEvaluationStore } from './storage/sqlite/evaluation-store.js';
import { SqliteJudgeStore } from './storage/sqlite/judge-store.js';
import { SqlitePromptIdentities } from './storage/sqlite/prompt-identities.js';
import type { SqlitePromptStore } from './storage/sqlite/prompt-store.js';
import { SqliteRunStore } from './storage/sqlite/run-store.js';
import type { JudgeServices } from './transport/http/routes/judges/index.js';

export interface JudgeParts {
  readonly config: JudgeConfig;
  readonly database: Database;
  readonly prompts: SqlitePromptStore;
  readonly versions: Pick<PromptService, 'ensure'>;
  readonly store: Pick<TraceStore, 'spans' | 'arrivals' | 'writeLoad'>;
  /** Stores calls of models as spans. */
  readonly ingest: Pick<IngestService, 'storeSpans'>;
  readonly price: PriceModelCall;
  readonly events: Events;
  readonly closers: Closers;
  /** Null: no endpoint is configured. */
  readonly model: ModelClient | null;
  readonly examples?: ExampleSource;
  /** Wait before the second attempt; default 1 s. */
  readonly retryBaseMs?: number;
}

/** The configured model endpoint; its library is loaded only when there is one. */
export async function openModel(config: JudgeConfig, events: Events): Promise<ModelClient | null> {
  const { llm, concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes } = config;
  if (llm === null) return null;
  const { OpenAiModelClient } = await import('./llm/openai-client.js');
  const limits = { concurrency, ratePerMinute, maxAnswerCharacters, maxAnswerBytes };
  return new OpenAiModelClient({ ...llm, ...limits }, events);
}

/**
 * Opens the judges, and starts what runs them when there is a model endpoint. Part of the composition root.
 * @throws DomainError
 */
export function openJudges(parts: JudgeParts): JudgeServices & { readonly work: readonly WorkUnderWay[] } {
  const { config, database, prompts, store, events, closers, model } = parts;
  const judgeStore = new SqliteJudgeStore(database, prompts);
  const evaluationStore = new SqliteEvaluationStore(database);
  const runs = new SqliteRunStore(database);
  const identities = new SqlitePromptIdentities(database);
  const identifyPrompt = (projectId: string, slug: string) => identities.ofSlug(projectId, slug);
  events.judgeQueueOpened(() => {
    const { queued, oldest } = runs.state();
    return { queued, oldestSeconds: oldest === null ? 0 : Math.max(0, Date.now() / 1000 - oldest / 1e6) };
  });
  const { runner, feed } = model === null ? idle() : run(parts, model);

  const judges = new JudgeService({
    store: judgeStore,
    prompts,
    versions: parts.versions,
    arrivals: store.arrivals,
    model,
    onChange() {
      runner?.changed();
      feed?.changed();
    },
  });
  const running = () => runner?.running() ?? [];
  const { queueMax } = config;
  return {
    work: runner === null ? [] : [runner, feed],
    judges,
    evaluations: new EvaluationService({ store: evaluationStore, judges, spans: store.spans, observer: events }),
    runs: new RunService({
      runs,
      judges,
      spans: store.spans,
      identifyPrompt,
      queueMax,
      running,
      onQueued: () => runner?.wake(),
    }),
    explanations: new ExplainService({
      judges,
      evaluations: evaluationStore,
      runs,
      spans: store.spans,
      identifyPrompt,
      running,
    }),
  };

  /** What comes while there is no endpoint is not made up for later: the feed will begin anew. */
  function idle() {
    runs.forget();
    const enabled = judgeStore.enabled().length;
    if (enabled > 0) events.judgesNotRunning({ judges: enabled });
    return { runner: null, feed: null };
  }

  function run(
    { examples = noExamples, retryBaseMs, ingest, price }: JudgeParts,
    client: ModelClient,
  ): { runner: JudgeRunner; feed: JudgeFeed } {
    const newRunner: JudgeRunner = new JudgeRunner({
      runs,
      judges: judgeStore,
      spans: store.spans,
      caller: new JudgeCaller({ client, prompts, examples }),
      async storeSpans(projectId, spans) {
        await ingest.storeSpans(projectId, 'judge', spans);
        const cost = spans.reduce((sum, span) => sum + (costOf(span, projectId, price) ?? 0), 0);
        events.modelCallsPriced({ cost });
      },
      writeLoad: () => store.writeLoad(),
      concurrency: config.concurrency,
      maxAttempts: config.maxAttempts,
      ...(retryBaseMs === undefined ? {} : { retryBaseMs }),
      onRoom: () => newFeed.wake(),
      observer: events,
    });
    const newFeed: JudgeFeed = new JudgeFeed({
      judges: judgeStore,
      runs,
      arrivals: store.arrivals,
      identifyPrompt,
      queueMax: config.queueMax,
      maxAttempts: config.maxAttempts,
      ...(retryBaseMs === undefined ? {} : { retryBaseMs }),
      onQueued: () => newRunner.wake(),
      observer: events,
    });
    closers.push(() => newRunner.close());
    closers.push(() => newFeed.close());
    newFeed.start();
    newRunner.wake();
    return { runner: newRunner, feed: newFeed };
  }
}
