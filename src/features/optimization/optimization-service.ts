import { NO_ENDPOINT } from '../calibration/calibration-service.js';
import { DomainError } from '../../engine/errors.js';
import type { FeedbackStore } from '../feedback/feedback-store.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Job, JobHead, JobStore } from '../../engine/work/job.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import { instructionOf } from '../judges/instruction.js';
import type { Judge } from '../judges/judge.js';
import type { JudgeStore } from '../judges/judge-store.js';
import { shapeOf } from '../judges/whole-settings.js';
import type { SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import { LATEST, type SelectedVersion, type StoredVersion } from '../prompts/prompt.js';
import type { PromptService } from '../prompts/prompt-service.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { RUNNING_TAG, runningVersion } from '../prompts/running-version.js';
import { invalid } from '../../engine/validation/validation.js';
import { isEnough, readinessOf } from '../trials/readiness.js';
import {
  halvesOf,
  splitTrainingExamples,
  tooLittle,
  trainingExamplesOf,
  type ComparedBy,
  type TrainingExamples,
} from './training-examples.js';
import type { OptimizationInput } from './optimization-job.js';
import { OPTIMIZATION } from '../prompts/version-uses.js';
import type { Optimization, OptimizationAbout, OptimizationHead, OptimizationReadiness } from './optimization.js';
import type { OptimizationResult } from './optimization-result.js';
import type { PromotionStore } from './promotion-store.js';
import { DEFAULT_CANDIDATES, DEFAULT_EXAMPLES, type OptimizationInputBody } from './schema.js';

export interface OptimizationServiceOptions {
  readonly feedback: Pick<FeedbackStore, 'ofPrompt'>;
  readonly spans: Pick<SpanReader, 'find'>;
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly prompts: Pick<PromptStore, 'findVersion'>;
  /** Makes versions of candidates. */
  readonly versions: Pick<PromptService, 'ensure' | 'find'>;
  readonly promotions: PromotionStore;
  readonly jobs: Pick<JobStore, 'list'>;
  readonly runner: Pick<JobRunner, 'create' | 'cancel' | 'find'>;
  /** The model endpoint; null: none is configured. */
  readonly endpoint: { readonly defaultModel: string | null } | null;
}

/** Feedback that is looked at: the newest. */
const MAX_FEEDBACK = 1_000;
const MAX_TRAINING = 60;
/** Most other versions by which completions are recognized. */
const MAX_OTHER_VERSIONS = 10;
/** Longest content of another version by which completions are recognized. */
const MAX_OTHER_CONTENT = 100_000;
const SPANS_AT_ONCE = 50;
const MAX_LISTED = 100;

/** Why nothing can be asked although there is an endpoint. */
export const NO_MODEL = 'No model is set: send one, bind one to the version, or set JUDGE_LLM_MODEL';
/** Why a judge cannot compare outputs of a prompt; null: it can. */
function unfit(judge: Judge | null, slug: string): string | null {
  if (judge?.task_slug === slug) return 'must be another judge: this prompt is its own instruction';
  if (judge === null || shapeOf(judge) === null) return null;
  return `must be a judge of spans: this one evaluates ${judge.subject}s`;
}

const CAN_RUN = 'Start an optimization with a POST to `optimizations`';

/** What an optimization is asked to improve, and with what. */
type Asked = Pick<OptimizationInputBody, 'base_version' | 'judge_id' | 'model'>;

/** Jobs that write better versions of prompts from feedback. A candidate is no version before it is promoted. */
export class OptimizationService {
  readonly #options: OptimizationServiceOptions;

  constructor(options: OptimizationServiceOptions) {
    this.#options = options;
  }

  /** Whether the prompt can be optimized. @throws DomainError as `create` does, but not for what is missing */
  async readiness(projectId: string, slug: string, asked: Asked): Promise<OptimizationReadiness> {
    const { base, base_version_reason, judge, model, readiness } = await this.#plan(projectId, slug, asked);
    const judge_id = judge?.id ?? null;
    return {
      ...readiness,
      prompt_slug: slug,
      base_version: base.version,
      base_version_reason,
      judge_id,
      model,
      compared_by: comparedBy(judge_id),
    };
  }

  /**
   * Creates a job. @throws DomainError `not_found` for an unknown prompt, version or judge; `invalid`; `conflict` when
   *   no model can be asked, there is too little feedback, or the version is deleted meanwhile
   */
  async create({ project_id, user_id }: Principal, slug: string, body: OptimizationInputBody): Promise<Optimization> {
    const plan = await this.#plan(project_id, slug, body);
    const { base, base_version_reason, judge, instruction, model, readiness } = plan;
    const detail = unfit(judge, slug);
    if (detail !== null) throw invalid([{ pointer: '/judge_id', detail }]);
    if (!readiness.ready || model === null) throw new DomainError('conflict', readiness.next);
    // The job that is made in this turn keeps its version; until now it could be deleted.
    if (this.#options.prompts.findVersion(project_id, slug, { by: 'number', version: base.version })?.id !== base.id)
      throw new DomainError('conflict', `Version ${base.version} was deleted in the meantime`);
    const { training, held_out } = this.#standing(base.prompt_id, plan.examples);
    const input: OptimizationInput = {
      slug,
      base: { version: base.version, content: base.content, model_id: base.model_id, config: base.config },
      other_contents: this.#otherContents(project_id, slug, base),
      judge,
      instruction,
      model,
      candidates: body.candidates ?? DEFAULT_CANDIDATES,
      training: training.slice(0, MAX_TRAINING),
      held_out: held_out.slice(0, body.max_examples ?? DEFAULT_EXAMPLES),
    };
    const summary: OptimizationAbout = {
      prompt_slug: slug,
      base_version: base.version,
      base_version_reason,
      judge_id: judge?.id ?? null,
      model,
      training: input.training.length,
      held_out: input.held_out.length,
    };
    const about = { project_id, kind: OPTIMIZATION, subject_id: base.prompt_id, created_by: user_id };
    return this.#optimizationOf(this.#options.runner.create({ ...about, summary, input }));
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, slug: string, id: string): Optimization {
    return this.#optimizationOf(this.#require(projectId, slug, id));
  }

  /** The newest hundred, newest first. @throws DomainError `not_found` */
  list(projectId: string, slug: string): OptimizationHead[] {
    return this.#options.jobs.list(projectId, OPTIMIZATION, this.#promptId(projectId, slug), MAX_LISTED).map(headOf);
  }

  /** @throws DomainError `not_found`; `conflict` when it has ended */
  cancel(projectId: string, slug: string, id: string): Optimization {
    this.#require(projectId, slug, id);
    return this.#optimizationOf(this.#options.runner.cancel(projectId, OPTIMIZATION, id));
  }

  /**
   * Makes a version of a candidate; asked again, it answers the same version.
   * @throws DomainError `not_found`; `conflict` when the job is not done
   */
  promote(principal: Principal, slug: string, id: string, candidateId: string): SelectedVersion {
    const { versions, promotions } = this.#options;
    const job = this.#require(principal.project_id, slug, id);
    if (job.state !== 'done')
      throw new DomainError('conflict', `The optimization is not done: it is ${job.state}, so it has no candidates`);
    const { base, judge } = job.input as OptimizationInput;
    const candidate = resultOf(job)?.candidates.find((each) => each.id === candidateId);
    if (candidate === undefined) throw new DomainError('not_found', 'The optimization has no candidate with this id');
    const made = versions.ensure(principal, slug, {
      content: candidate.content,
      config: base.config ?? {},
      model_id: base.model_id,
      metadata: {
        optimization: {
          id: job.id,
          candidate_id: candidate.id,
          base_version: base.version,
          judge_id: judge?.id ?? null,
        },
      },
    });
    promotions.add(job.id, candidate.id, made.version, principal.user_id, Date.now() * 1000);
    return made;
  }

  /** Everything that an optimization would work with, and whether it can run. */
  async #plan(projectId: string, slug: string, asked: Asked) {
    const { endpoint } = this.#options;
    const { base, reason } = this.#base(projectId, slug, asked.base_version ?? null);
    const { judge, instruction } = this.#judge(projectId, asked.judge_id ?? null);
    const model = asked.model ?? base.model_id ?? endpoint?.defaultModel ?? null;
    const by = comparedBy(judge?.id ?? null);
    const examples = await this.#trainingExamples(projectId, base.prompt_id, by);
    const halves = halvesOf(examples);
    const obstacle = () => {
      const problem = unfit(judge, slug);
      if (base.messages !== null)
        return `Version ${base.version} is a chat version: optimizations improve text versions only`;
      if (problem !== null) return `The judge ${problem}`;
      if (endpoint === null) return NO_ENDPOINT;
      if (model === null) return NO_MODEL;
      return isEnough(halves) ? null : tooLittle(halves, by);
    };
    const readiness = readinessOf(halves, obstacle(), CAN_RUN);
    return { base, base_version_reason: reason, judge, instruction, model, examples, readiness };
  }

  /** The version to improve, and why it is this one. @throws DomainError `not_found` */
  #base(projectId: string, slug: string, version: number | null): { base: StoredVersion; reason: string } {
    const { prompts, versions } = this.#options;
    if (version !== null)
      return { base: versions.find(projectId, slug, { by: 'number', version }), reason: 'It was asked for' };
    const running = runningVersion(prompts, projectId, slug);
    if (running === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
    const reason =
      running.tag === RUNNING_TAG
        ? `The tag ${RUNNING_TAG} points to it`
        : `It is the latest version, and the tag ${RUNNING_TAG} is not pinned`;
    return { base: running.version, reason };
  }

  /** @throws DomainError `not_found` */
  #promptId(projectId: string, slug: string): string {
    return this.#options.versions.find(projectId, slug, { by: 'tag', tag: LATEST }).prompt_id;
  }

  #judge(projectId: string, judgeId: string | null) {
    if (judgeId === null) return { judge: null, instruction: null };
    const judge = this.#options.judges.find(projectId, judgeId);
    if (judge === undefined || judge.deleted_at !== null)
      throw new DomainError('not_found', 'There is no judge with this id');
    const instruction = instructionOf(this.#options.prompts, judge);
    if (instruction === undefined)
      throw new DomainError('conflict', `There is no prompt ${judge.task_slug}, which holds the judge's instruction`);
    return { judge, instruction };
  }

  #otherContents(projectId: string, slug: string, base: StoredVersion): string[] {
    const from = base.latest_version;
    const numbers = Array.from({ length: Math.min(from, MAX_OTHER_VERSIONS + 1) }, (_, index) => from - index);
    return numbers.flatMap((version) => {
      if (version === base.version) return [];
      const other = this.#options.prompts.findVersion(projectId, slug, { by: 'number', version });
      if (other === undefined || other.messages !== null || other.content.length > MAX_OTHER_CONTENT) return [];
      return [other.content];
    });
  }

  /** Training examples of completions that are stored and have an input. */
  async #trainingExamples(projectId: string, promptId: string, by: ComparedBy): Promise<TrainingExamples> {
    const { feedback, spans } = this.#options;
    const all = trainingExamplesOf(feedback.ofPrompt(promptId, MAX_FEEDBACK));
    const usable = new Set<string>();
    for (let from = 0; from < all.length; from += SPANS_AT_ONCE) {
      const ids = all.slice(from, from + SPANS_AT_ONCE).map(({ span_id }) => span_id);
      for (const [id, { input }] of await spans.find(projectId, ids)) if (input !== null) usable.add(id);
    }
    return splitTrainingExamples(
      all.filter(({ span_id }) => usable.has(span_id)),
      by,
    );
  }

  /** The examples without those deleted while spans were read; later deletions reach the job. */
  #standing(promptId: string, { training, held_out }: TrainingExamples): TrainingExamples {
    const { feedback } = this.#options;
    const ids = new Set(trainingExamplesOf(feedback.ofPrompt(promptId, MAX_FEEDBACK)).map(({ span_id }) => span_id));
    const stands = ({ span_id }: { readonly span_id: string }) => ids.has(span_id);
    return { training: training.filter(stands), held_out: held_out.filter(stands) };
  }

  #require(projectId: string, slug: string, id: string): Job {
    const promptId = this.#promptId(projectId, slug);
    const job = this.#options.runner.find(projectId, OPTIMIZATION, id);
    if (job.subject_id !== promptId) throw new DomainError('not_found', 'There is no job with this id');
    return job;
  }

  #optimizationOf(job: Job): Optimization {
    const [head, result] = [headOf(job), resultOf(job)];
    if (result === null) return { ...head, result: null };
    const promoted = this.#options.promotions.ofJob(job.id);
    const candidates = result.candidates.map((candidate) => ({
      ...candidate,
      promoted_version: promoted.get(candidate.id) ?? null,
    }));
    return { ...head, result: { ...result, candidates } };
  }
}

function resultOf(job: Job): OptimizationResult | null {
  return job.result as OptimizationResult | null;
}

function headOf(job: JobHead): OptimizationHead {
  const about = job.summary as OptimizationAbout;
  return { ...job, about, compared_by: comparedBy(about.judge_id) };
}

function comparedBy(judgeId: string | null): ComparedBy {
  return judgeId === null ? 'model' : 'judge';
}
