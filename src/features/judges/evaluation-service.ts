import { randomUUID } from 'node:crypto';
import { DomainError, MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import { fitting, type Fitting } from '../../engine/validation/fitting.js';
import { compileClosed, invalid } from '../../engine/validation/validation.js';
import type { MaskerOf } from '../masking/maskers.js';
import type { PromptService } from '../prompts/prompt-service.js';
import { judgeVersion, MAX_OF_SPAN, type CriteriaScores, type Evaluation } from './evaluation.js';
import type { EvaluationStore } from './evaluation-store.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import { maskedVerdict } from './masked-verdict.js';
import type { MistakenIds } from '../../engine/traces/model/trace/mistaken-ids.js';
import { EvaluationInput } from './schema.js';
import { passes } from './verdict.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface EvaluationServiceOptions {
  readonly store: Pick<EvaluationStore, 'countOfSpan' | 'insert'>;
  readonly judges: Pick<JudgeService, 'require'>;
  readonly prompts: Pick<PromptService, 'find'>;
  readonly ids: Pick<MistakenIds, 'issues'>;
  readonly masker: MaskerOf;
  readonly observer: Pick<Signals, 'evaluationStored'>;
}

const checkInput = compileClosed(EvaluationInput);

/** Evaluations that ran elsewhere. Everything is inside the caller's project. */
export class EvaluationService {
  readonly #options: EvaluationServiceOptions;

  constructor(options: EvaluationServiceOptions) {
    this.#options = options;
  }

  /** Stores an evaluation that ran elsewhere. @throws DomainError `invalid` with every broken rule, `not_found`, `conflict` */
  async record(projectId: string, judgeId: string, body: unknown): Promise<Evaluation> {
    this.#options.judges.require(projectId, judgeId);
    const sent = fitting(checkInput, body);
    const mistaken = sent.isMisfit('span_id')
      ? []
      : await this.#options.ids.issues(projectId, String(sent.values.span_id), '/span_id', 'evaluated');
    // It may have been deleted or changed meanwhile.
    const judge = this.#options.judges.require(projectId, judgeId);
    const input = sent.require([...mistaken, ...scoreIssues(judge, sent)]);
    const masked = maskedVerdict(toEvaluation(judge, input), this.#options.masker(projectId));
    const evaluation = { ...masked, ...this.#versionOf(judge, input) };
    if (this.#options.store.countOfSpan(projectId, evaluation.span_id, MAX_OF_SPAN) >= MAX_OF_SPAN)
      throw new DomainError('conflict', `The span has reached the limit of ${MAX_OF_SPAN} evaluations`);
    const stored = this.#options.store.insert({ ...evaluation, created_at: Date.now() * 1000 });
    this.#options.observer.evaluationStored({ result: stored.evaluation_result, origin: 'external' });
    return stored;
  }

  /** The version of the judge that it names, which has no examples: only the server itself knows which it showed. */
  #versionOf(
    { project_id, task_slug }: Judge,
    { prompt_version }: EvaluationInput,
  ): Pick<Evaluation, 'prompt_version_id' | 'judge_version'> {
    if (prompt_version == null) return { prompt_version_id: null, judge_version: null };
    try {
      const { id } = this.#options.prompts.find(project_id, task_slug, { by: 'number', version: prompt_version });
      return { prompt_version_id: id, judge_version: judgeVersion(id, null) };
    } catch (error) {
      if (!(error instanceof DomainError && error.kind === 'not_found')) throw error;
      throw invalid([{ pointer: '/prompt_version', detail: `must be a version of the judge's prompt, ${task_slug}` }]);
    }
  }
}

function scoreIssues(judge: Judge, { values }: Fitting<EvaluationInput>): Issue[] {
  const { score, evaluation_result: result, criteria_scores: criteria } = values;
  const issues: Issue[] = [];
  if (judge.evaluation_type === 'binary') {
    const reason = 'applies only to scored judges; this judge is binary';
    if (result == null) issues.push({ pointer: '/evaluation_result', detail: 'is required for a binary judge' });
    if (score != null) issues.push({ pointer: '/score', detail: reason });
    if (Object.keys(criteria ?? {}).length > 0) issues.push({ pointer: '/criteria_scores', detail: reason });
    return issues;
  }
  const range = ([pointer, value]: readonly [string, number]) =>
    value < (judge.score_min ?? 0) || value > (judge.score_max ?? 1)
      ? [{ pointer, detail: `must be from ${judge.score_min} to ${judge.score_max}` }]
      : [];
  if (score == null) issues.push({ pointer: '/score', detail: 'is required for a scored judge' });
  else {
    issues.push(...range(['/score', score]));
    if (issues.length === 0 && result != null && result !== passes(judge, score))
      issues.push({
        pointer: '/evaluation_result',
        detail: `must agree with score and pass_threshold (${judge.pass_threshold}), or be absent`,
      });
  }
  const keys = judge.criteria.map(({ key }) => key);
  for (const [key, found] of Object.entries(criteria ?? {})) {
    if (issues.length >= MAX_ISSUES) break;
    const pointer = `/criteria_scores/${key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (keys.includes(key)) issues.push(...range([`${pointer}/score`, found.score]));
    else issues.push({ pointer, detail: `is not a criterion of this judge; it has ${keys.join(', ') || 'none'}` });
  }
  return issues;
}

function toEvaluation(
  judge: Judge,
  input: EvaluationInput,
): Omit<Evaluation, 'created_at' | 'prompt_version_id' | 'judge_version'> {
  const scored = judge.evaluation_type === 'scored';
  return {
    id: randomUUID(),
    project_id: judge.project_id,
    judge_id: judge.id,
    span_id: input.span_id,
    trace_id: null,
    origin: 'external',
    evaluation_type: judge.evaluation_type,
    score_min: judge.score_min,
    score_max: judge.score_max,
    pass_threshold: judge.pass_threshold,
    evaluation_result: scored ? passes(judge, input.score ?? 0) : input.evaluation_result === true,
    evaluation_reason: normalizeText(input.evaluation_reason ?? ''),
    confidence_score: input.confidence_score ?? null,
    score: scored ? (input.score ?? null) : null,
    criteria_scores: scored ? toCriteriaScores(input.criteria_scores) : null,
    model_used: input.model_used == null ? null : normalizeText(input.model_used),
    duration_ms: input.evaluation_duration_ms ?? null,
  };
}

function toCriteriaScores(scores: EvaluationInput['criteria_scores']): CriteriaScores | null {
  if (scores == null || Object.keys(scores).length === 0) return null;
  return Object.fromEntries(
    Object.entries(scores).map(([key, { score, reason }]) => [key, { score, reason: normalizeText(reason ?? '') }]),
  );
}
