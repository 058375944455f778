import { LRUCache } from 'lru-cache';
import { catalogOf, measured, signal, type LineName, type LogEvent } from '../signal.js';

/** Judges, and the models they ask. */
export const judgeCatalog = catalogOf({
  modelCallFailed: {
    level: 'warn',
    message: 'Model endpoint call failed',
    when: 'The endpoint did not respond, or returned an error (`code`, `detail`). One line in 10 seconds for a project, model and code; more at `debug`.',
    action:
      'Check what `detail` names: the address (JUDGE_LLM_BASE_URL), the model name, its limits. Evaluations are attempted six times',
  },
  keyRefused: signal<{ status: number; model: string; detail: string | null }>({
    level: 'warn',
    message: 'The model endpoint rejects the API key: set JUDGE_LLM_API_KEY to a valid one',
    when: 'The endpoint rejected the key with 401 or 403 for the first time. Logged once until it accepts the key again.',
    action:
      'Restart with a valid JUDGE_LLM_API_KEY that may use the model, then retry failed evaluations (judges/{id}:retry)',
    log: ({ status, model, detail }) => ({ status, model, detail }),
  }),
  keyAccepted: signal<{ model: string }>({
    level: 'info',
    message: 'The model endpoint accepts the key again',
    when: 'The first call that succeeds after the key was rejected.',
    log: ({ model }) => ({ model }),
  }),
  evaluationGivenUp: signal<{ judge: string; span: string; reason: string }>({
    level: 'debug',
    message: 'Evaluation failed permanently',
    when: 'An evaluation failed permanently; the failed runs of its judge list it with the reason.',
    log: ({ judge, span, reason }) => ({ judge, span, reason }),
    count: ({ judgeRunsFailed }) => judgeRunsFailed.inc(),
  }),
  judgesNotRunning: signal<{ judges: number }>({
    level: 'warn',
    message: 'Judges are disabled: JUDGE_LLM_BASE_URL is not set',
    when: 'At start, if judges are enabled.',
    action: 'Set JUDGE_LLM_BASE_URL (and JUDGE_LLM_API_KEY, JUDGE_LLM_MODEL), or disable the judges',
    log: ({ judges }) => ({ enabled_judges: judges }),
  }),
  callSpansLost: signal<{ count: number; error: unknown }>({
    level: 'warn',
    message: 'Could not store model calls of judges as spans; their evaluations are stored',
    when: 'ClickHouse did not accept them; internal usage lacks the cost of these calls.',
    action: 'Find out why ClickHouse accepts no spans: /readyz, its disk space, the lines before this one',
    log: ({ count, error }) => ({ count, error }),
  }),
  spendingNotStored: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not store the cost of model calls; keeping it in memory and retrying',
    when: 'SQLite accepted no write. Budgets count these calls meanwhile; if the server is killed, they are lost to the budget.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  recordingFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not store evaluations of judges; they stay queued',
    when: 'SQLite accepted no write; the model is not called again for them while the server runs.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  runnerFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not run queued evaluations; the runner continues',
    when: 'A store did not respond, or a bug; the evaluations stay queued.',
    action: 'If it repeats: check /readyz; if all stores respond, report it with this line',
    log: ({ error }) => ({ error }),
  }),
  runsNotRead: signal<{ project: string; runs: number; error: unknown }>({
    level: 'warn',
    message: 'Could not read spans of queued evaluations; reading fewer at once',
    when: 'ClickHouse hit a time or memory limit, or did not respond.',
    action: 'If it repeats: check /readyz, and give the engine more memory (ENGINE_MEMORY_MB)',
    log: ({ project, runs, error }) => ({ project, runs, error }),
  }),
  /** `project`: null: all of them. */
  feedFailed: signal<{ project: string | null; error: unknown }>({
    level: 'warn',
    message: 'Could not check new spans for judges; retrying',
    when: 'A store did not respond. No span is skipped; evaluations are delayed.',
    action: 'If it repeats: check /readyz',
    log: ({ project, error }) => ({ project, error }),
  }),
  spanNotRead: signal<{ project: string; span: string; error: unknown }>({
    level: 'warn',
    message: 'Could not read a new span for judges; it is not evaluated',
    when: 'A single span is too large to read within `READ_MAX_RESULT_MB` and the limits of the engine.',
    action: 'Have the client send less in one span, or queue it with judges/{id}:run after raising READ_MAX_RESULT_MB',
    log: ({ project, span, error }) => ({ project, span, error }),
  }),
  /** `status`: `ok`, or the code of the failure. */
  modelCalled: measured<{ status: string; seconds: number; inputTokens: number; outputTokens: number }>(
    ({ modelCallDuration, modelTokens }, { status, seconds, inputTokens, outputTokens }) => {
      modelCallDuration.observe({ status }, seconds);
      modelTokens.inc({ direction: 'input' }, inputTokens);
      modelTokens.inc({ direction: 'output' }, outputTokens);
    },
  ),
  /** `cost`: in US dollars. */
  modelCallsPriced: measured<{ cost: number }>(({ modelCost }, { cost }) => modelCost.inc(cost)),
  evaluationStored: measured<{ result: boolean; origin: string }>(({ evaluations }, { result, origin }) =>
    evaluations.inc({ result: result ? 'passed' : 'failed', origin }),
  ),
  runRetried: measured(({ judgeRetries }) => judgeRetries.inc()),
  examplesChosen: measured<{ examples: number; seconds: number }>((metrics, { examples, seconds }) => {
    metrics.judgeExamples.inc(examples);
    metrics.exampleSelectionDuration.observe(seconds);
  }),
  /** Asked, when somebody reads the metrics, how many evaluations wait and since when the next one does. */
  judgeQueueOpened: measured<() => { queued: number; oldestSeconds: number }>((metrics, queue) => {
    metrics.watchJudgeQueue(() => queue().queued);
    metrics.watchJudgeQueueAge(() => queue().oldestSeconds);
  }),
  /** Asked, when somebody reads the metrics, of how many models calls are held back, as many in a row failed. */
  modelsAsked: measured<() => number>(({ watchModelBreakers }, heldBack) => watchModelBreakers(heldBack)),
});

interface ModelCallFailure {
  readonly project: string;
  readonly model: string;
  readonly code: string;
  /** What the endpoint said, in full as far as it was kept. */
  readonly detail: string;
}

/** One failure of a kind is logged in this time; the others at level `debug`, or who fails often would fill the log. */
const LOGGED_FOR_MS = 10_000;
const MAX_LOGGED = 1_000;

/** Failures of model calls, of which many are alike. */
export function deriveJudges(log: LogEvent<LineName<typeof judgeCatalog>>) {
  const logged = new LRUCache<string, true>({ max: MAX_LOGGED, ttl: LOGGED_FOR_MS });
  return {
    modelCallFailed({ project, model, code, detail }: ModelCallFailure): void {
      const kind = [project, model, code].join('/');
      const isLogged = logged.has(kind);
      if (!isLogged) logged.set(kind, true);
      log('modelCallFailed', { project, model, code, detail }, isLogged);
    },
  };
}
