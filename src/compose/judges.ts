import type { WorkUnderWay } from '../engine/work/work-under-way.js';
import { EvaluationLists } from '../features/judges/evaluation-lists.js';
import { EvaluationService } from '../features/judges/evaluation-service.js';
import { ExplainService } from '../features/judges/explain-service.js';
import { JudgeFeed } from '../features/judges/feed.js';
import { PreviewService } from '../features/judges/preview-service.js';
import { JudgeFigureService } from '../features/judge-figures/judge-figures.js';
import { JudgeService } from '../features/judges/judge-service.js';
import type { CorrectionExamples } from '../features/calibration/correction-examples.js';
import { PinnedExamples } from '../features/calibration/pinned-examples.js';
import { ResultEvaluations } from '../features/judges/result-evaluations.js';
import { ResultFigures } from '../features/judges/result-figures.js';
import { ResultRuns } from '../features/judges/result-runs.js';
import { RunService } from '../features/judges/run-service.js';
import { JudgeRunner } from '../features/judges/runner.js';
import { Tryouts } from '../features/judges/tryouts.js';
import { WholeRuns } from '../features/judges/whole-runs.js';
import { versionsNamed } from '../features/calibration/versions.js';
import type { PriceModelCall } from '../engine/traces/model/span/pricing.js';
import { MistakenIds } from '../engine/traces/model/trace/mistaken-ids.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import type { MaskerOf } from '../features/masking/maskers.js';
import type { Context } from './context.js';
import type { ModelEndpoint, Models } from './models.js';
import type { Storage } from './storage.js';

export interface Judges {
  readonly judges: JudgeService;
  readonly evaluations: EvaluationService;
  readonly evaluationLists: EvaluationLists;
  readonly runs: RunService;
  readonly explanations: ExplainService;
  readonly previews: PreviewService;
  readonly judgeFigures: JudgeFigureService;
  readonly resultFigures: ResultFigures;
  /** Work under way that a deletion has to stop for the spans it deletes. */
  readonly work: readonly WorkUnderWay[];
}

export interface JudgeParts {
  readonly prompts: Pick<PromptService, 'ensure' | 'find'>;
  readonly models: Models;
  readonly price: PriceModelCall;
  readonly examples: CorrectionExamples;
  readonly masker: MaskerOf;
}

/**
 * Opens the judges, and starts what runs them when there is a model endpoint.
 * @throws DomainError
 */
export function openJudges(context: Context, storage: Storage, parts: JudgeParts): Judges {
  const { models, prompts: versions, price, masker } = parts;
  const { judges: judgeStore, evaluations: evaluationStore, runs, prompts, pins } = storage.metadata;
  const pinned = new PinnedExamples({
    pins,
    prompts,
    examples: parts.examples,
    maxTokens: context.config.judges.exampleTokens,
  });
  const { arrivals, spans, wholes, matching } = storage.traces;
  const identifyPrompt = promptIdentifier(storage);
  observeQueue(context, storage);
  const { runner, feed } =
    models.endpoint === null
      ? idle(context, storage)
      : runJudges(context, storage, { models, pinned, masker }, models.endpoint);
  const judges = new JudgeService({
    store: judgeStore,
    prompts,
    versions,
    arrivals,
    model: models.endpoint?.client ?? null,
    waitingReason: (projectId) => models.budgets.waitingReason(projectId),
    onChange() {
      runner?.changed();
      feed?.changed();
    },
    audit: storage.audit,
  });
  const running = () => runner?.running() ?? [];
  const tryouts = models.endpoint === null ? null : openTryouts(context, storage, parts, models.endpoint);
  const model = models.endpoint && tryouts && { defaultModel: models.endpoint.client.defaultModel, tryouts };
  const { queueMax } = context.config.judges;
  const onQueued = () => runner?.wake();
  const { experiments, datasets } = storage.metadata;
  const results = new ResultRuns({
    ...{ pins, pinned, prompts, experiments, runs, queueMax, onQueued },
    results: storage.traces.results,
    columnsOf: (projectId, id, number) => datasets.find(projectId, { id }) && datasets.version(id, { number })?.columns,
  });
  return {
    work: [runner, feed, tryouts].filter((work) => work !== null),
    judges,
    evaluations: new EvaluationService({
      store: evaluationStore,
      judges,
      prompts: parts.prompts,
      ids: new MistakenIds(storage.traces.entitySpans),
      masker,
      observer: context.events,
    }),
    evaluationLists: new EvaluationLists({
      store: evaluationStore,
      judges,
      spans,
      ofResults: new ResultEvaluations({ store: evaluationStore, results: storage.traces.results }),
      versionsNamed: (judgeId, name) => versionsNamed(storage.metadata.corrections.versions(judgeId), name),
    }),
    runs: new RunService({
      ...{ runs, judges, spans, identifyPrompt, results, queueMax, running, onQueued },
      wholes: new WholeRuns({ wholes, identifyPrompt }),
    }),
    explanations: new ExplainService({
      ...{ judges, evaluations: evaluationStore, runs, spans, wholes, identifyPrompt, running },
    }),
    previews: new PreviewService({ judges, prompts, matching, spans, wholes, identifyPrompt, price, model }),
    judgeFigures: new JudgeFigureService(storage.metadata.judgeCounts),
    resultFigures: new ResultFigures({ pins, results: storage.traces.results }),
  };
}

function openTryouts(
  { closers }: Context,
  { metadata, traces }: Storage,
  { models, price }: JudgeParts,
  { caller }: ModelEndpoint,
): Tryouts {
  const { storeSpans } = models;
  const { spans, wholes } = traces;
  const tryouts = new Tryouts({ caller, spans, wholes, notes: metadata.callNotes, storeSpans, price });
  closers.push(() => tryouts.close());
  return tryouts;
}

function promptIdentifier({ metadata: { promptIdentities } }: Storage) {
  return (projectId: string, slug: string) => promptIdentities.ofSlug(projectId, slug);
}

function observeQueue({ events }: Context, { metadata: { runs } }: Storage): void {
  events.judgeQueueOpened(() => {
    const { queued, oldest } = runs.state(Date.now() * 1000);
    return { queued, oldestSeconds: oldest === null ? 0 : Math.max(0, Date.now() / 1000 - oldest / 1e6) };
  });
}

/** Judges without a model endpoint: spans that arrive meanwhile are not evaluated later, as the feed will begin anew. */
function idle({ events }: Context, { metadata }: Storage) {
  try {
    metadata.runs.forget();
  } catch (error) {
    events.feedFailed({ project: null, error });
  }
  const enabled = metadata.judges.enabled().length;
  if (enabled > 0) events.judgesNotRunning({ judges: enabled });
  return { runner: null, feed: null };
}

function runJudges(
  { config: { judges: config }, overrides, events, governor, closers }: Context,
  storage: Storage,
  {
    models: { storeSpans, budgets },
    pinned,
    masker,
  }: Pick<JudgeParts, 'models' | 'masker'> & { readonly pinned: PinnedExamples },
  { caller }: ModelEndpoint,
): { readonly runner: JudgeRunner; readonly feed: JudgeFeed } {
  const { judges, runs, evaluations } = storage.metadata;
  const { arrivals, spans, wholes } = storage.traces;
  const retry = overrides.judgeRetry && { retry: overrides.judgeRetry };
  const runner: JudgeRunner = new JudgeRunner({
    runs,
    judges,
    spans,
    wholes,
    evaluations,
    identifyPrompt: promptIdentifier(storage),
    caller,
    pinned,
    storeSpans,
    masker,
    governor,
    isPaused: (projectId) => budgets.isSpent(projectId),
    concurrency: config.concurrency,
    maxAttempts: config.maxAttempts,
    ...retry,
    onRoom: () => feed.wake(),
    observer: events,
  });
  const feed: JudgeFeed = new JudgeFeed({
    judges,
    runs,
    arrivals,
    identifyPrompt: promptIdentifier(storage),
    known: {
      evaluations: (judgeId, subjectId, most) => evaluations.countOfWhole(judgeId, subjectId, most),
      isQueued: (judgeId, subjectId) =>
        runs.ofWhole(judgeId, subjectId).some(({ state, origin }) => state === 'queued' && origin === 'automatic'),
    },
    queueMax: config.queueMax,
    maxAttempts: config.maxAttempts,
    ...retry,
    onQueued: () => runner.wake(),
    observer: events,
  });
  closers.push(() => runner.close());
  closers.push(() => feed.close());
  budgets.onChange(() => runner.wake());
  events.modelsAsked(() => runner.heldBack());
  feed.start();
  runner.wake();
  return { runner, feed };
}
