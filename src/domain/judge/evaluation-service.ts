import { randomUUID } from 'node:crypto';
import { DomainError, MAX_ISSUES, type Issue } from '../errors.js';
import { normaliseText } from '../schema/normalise.js';
import { fitting, type Fitting } from '../validation/fitting.js';
import { compileClosed } from '../validation/validation.js';
import type { CriteriaScores, Evaluation, NamedEvaluation } from './evaluation.js';
import type { EvaluationFilter, EvaluationPage, EvaluationStore } from './evaluation-store.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import type { Window } from '../schema/page.js';
import type { RecorderObserver } from './recorder.js';
import { EvaluationInput } from './schema.js';
import type { SpanReader } from './span-reader.js';
import { passes } from './verdict.js';

export interface EvaluationServiceOptions {
  readonly store: EvaluationStore;
  readonly judges: Pick<JudgeService, 'require' | 'requireEver'>;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly observer: Pick<RecorderObserver, 'evaluationStored'>;
}

const checkInput = compileClosed(EvaluationInput);

/** Evaluations by judge and by span. Everything is inside the caller's project. */
export class EvaluationService {
  readonly #options: EvaluationServiceOptions;

  constructor(options: EvaluationServiceOptions) {
    this.#options = options;
  }

  /** Stores an evaluation that ran elsewhere. @throws DomainError `invalid` with every broken rule, `not_found` */
  record(projectId: string, judgeId: string, body: unknown): Evaluation {
    const judge = this.#options.judges.require(projectId, judgeId);
    const sent = fitting(checkInput, body);
    const input = sent.require(scoreIssues(judge, sent));
    const stored = this.#options.store.insert({ ...toEvaluation(judge, input), created_at: Date.now() * 1000 });
    this.#options.observer.evaluationStored({ result: stored.evaluation_result, origin: 'external' });
    return stored;
  }

  /**
   * Evaluations of a judge, also a deleted one, in the order of storing, or backwards. Forwards, new ones come at the
   * end: whoever pages sees each once. @throws DomainError `not_found`
   */
  ofJudge(
    projectId: string,
    judgeId: string,
    filter: EvaluationFilter,
    window: Window,
    descending: boolean,
  ): EvaluationPage {
    this.#options.judges.requireEver(projectId, judgeId);
    return this.#options.store.ofJudge(judgeId, filter, window, descending);
  }

  /** Newest first. @throws DomainError `not_found` when there is neither an evaluation nor a span */
  async ofSpan(projectId: string, spanId: string): Promise<readonly NamedEvaluation[]> {
    const found = this.#options.store.ofSpan(projectId, spanId);
    if (found.length === 0 && !(await this.#options.spans.traits(projectId, [spanId])).has(spanId))
      throw new DomainError('not_found', 'There is no span with this id');
    return found;
  }
}

function scoreIssues(judge: Judge, { values }: Fitting<EvaluationInput>): Issue[] {
  const { score, evaluation_result: result, criteria_scores: criteria } = values;
  const issues: Issue[] = [];
  if (judge.evaluation_type === 'binary') {
    const reason = 'is for scored judges; this one is binary';
    if (result == null) issues.push({ pointer: '/evaluation_result', detail: 'is required of a binary judge' });
    if (score != null) issues.push({ pointer: '/score', detail: reason });
    if (Object.keys(criteria ?? {}).length > 0) issues.push({ pointer: '/criteria_scores', detail: reason });
    return issues;
  }
  const range = ([pointer, value]: readonly [string, number]) =>
    value < (judge.score_min ?? 0) || value > (judge.score_max ?? 1)
      ? [{ pointer, detail: `must be from ${judge.score_min} to ${judge.score_max}` }]
      : [];
  if (score == null) issues.push({ pointer: '/score', detail: 'is required of a scored judge' });
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
    else issues.push({ pointer, detail: `is no criterion of this judge; it has ${keys.join(', ') || 'none'}` });
  }
  return issues;
}

function toEvaluation(judge: Judge, input: EvaluationInput): Omit<Evaluation, 'created_at'> {
  const scored = judge.evaluation_type === 'scored';
  return {
    id: randomUUID(),
    project_id: judge.project_id,
    judge_id: judge.id,
    span_id: input.span_id,
    origin: 'external',
    evaluation_type: judge.evaluation_type,
    score_min: judge.score_min,
    score_max: judge.score_max,
    pass_threshold: judge.pass_threshold,
    evaluation_result: scored ? passes(judge, input.score ?? 0) : input.evaluation_result === true,
    evaluation_reason: normaliseText(input.evaluation_reason ?? ''),
    confidence_score: input.confidence_score ?? null,
    score: scored ? (input.score ?? null) : null,
    criteria_scores: scored ? toCriteriaScores(input.criteria_scores) : null,
    model_used: input.model_used == null ? null : normaliseText(input.model_used),
    duration_ms: input.evaluation_duration_ms ?? null,
    prompt_version_id: null,
    judge_version: null,
  };
}

function toCriteriaScores(scores: EvaluationInput['criteria_scores']): CriteriaScores | null {
  if (scores == null || Object.keys(scores).length === 0) return null;
  return Object.fromEntries(
    Object.entries(scores).map(([key, { score, reason }]) => [key, { score, reason: normaliseText(reason ?? '') }]),
  );
}
