import { NO_ENDPOINT } from '../calibration/calibration-service.js';
import { DomainError } from '../../errors.js';
import type { FeedbackStore } from '../../feedback/feedback-store.js';
import type { Principal } from '../../identity/identity.js';
import type { Job, JobHead, JobStore } from '../../job/job.js';
import type { JobRunner } from '../../job/job-runner.js';
import { instructionOf } from '../../judge/instruction.js';
import type { JudgeStore } from '../../judge/judge-store.js';
import type { SpanReader } from '../../judge/span-reader.js';
import { LATEST, type SelectedVersion, type StoredVersion } from '../../prompt/prompt.js';
import type { PromptService } from '../../prompt/prompt-service.js';
import type { PromptStore } from '../../prompt/prompt-store.js';
import { invalid } from '../../validation/validation.js';
import {
  hasExplanation,
  trainingExamplesOf,
  splitTrainingExamples,
  type ComparedBy,
  type TrainingExamples,
} from './training-examples.js';
import { OPTIMIZATION, type OptimizationInput } from './optimization-job.js';
import type { Optimization, OptimizationAbout, OptimizationHead } from './optimization.js';
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
/** Fewest completions to learn from, and to measure by: fewer would teach or show nothing. */
const MIN_COMPLETIONS = 3;
/** Most other versions by which completions are recognised. */
const MAX_OTHER_VERSIONS = 10;
/** Longest content of another version by which completions are recognised. */
const MAX_OTHER_CONTENT = 100_000;
const SPANS_AT_ONCE = 50;
const MAX_LISTED = 100;

/** Parts of feedback that outputs are measured by, in words. */
const MEASURED_BY: Readonly<Record<ComparedBy, string>> = {
  judge: 'an expected output, a reason or thumbs up',
  model: 'an expected output',
};

/** Jobs that write better versions of prompts from feedback. A candidate is no version before it is promoted. */
export class OptimizationService {
  readonly #options: OptimizationServiceOptions;

  constructor(options: OptimizationServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates a job. @throws DomainError `not_found` for an unknown prompt, version or judge; `invalid`; `conflict` when
   *   no model can be asked or there is too little feedback
   */
  async create({ project_id, user_id }: Principal, slug: string, body: OptimizationInputBody): Promise<Optimization> {
    const { runner, endpoint } = this.#options;
    const base = this.#version(project_id, slug, body.version ?? null);
    const { judge, instruction } = this.#judge(project_id, body.judge_id ?? null);
    if (judge?.task_slug === slug)
      throw invalid([{ pointer: '/judge_id', detail: 'must be another judge: this prompt is its own instruction' }]);
    if (endpoint === null) throw new DomainError('conflict', NO_ENDPOINT);
    const model = body.model ?? base.model_id ?? endpoint.defaultModel;
    if (model === null)
      throw new DomainError('conflict', 'There is no model: send one, bind one to the version, or set JUDGE_LLM_MODEL');
    const { training, held_out } = this.#standing(
      base.prompt_id,
      await this.#trainingExamples(project_id, base.prompt_id, comparedBy(judge?.id ?? null)),
    );
    const input: OptimizationInput = {
      slug,
      base: { version: base.version, content: base.content, model_id: base.model_id },
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
      judge_id: judge?.id ?? null,
      model,
      training: input.training.length,
      held_out: input.held_out.length,
    };
    const about = { project_id, kind: OPTIMIZATION, subject_id: base.prompt_id, created_by: user_id };
    const draft = { ...about, summary, input };
    return this.#optimizationOf(runner.create(draft));
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, slug: string, id: string): Optimization {
    return this.#optimizationOf(this.#require(projectId, slug, id));
  }

  /** The newest hundred, newest first. @throws DomainError `not_found` */
  list(projectId: string, slug: string): OptimizationHead[] {
    const { prompt_id } = this.#version(projectId, slug, null);
    return this.#options.jobs.list(projectId, OPTIMIZATION, prompt_id, MAX_LISTED).map(headOf);
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
      throw new DomainError('conflict', `The optimisation is not done: it is ${job.state}, so it has no candidates`);
    const { base, judge } = job.input as OptimizationInput;
    const candidate = resultOf(job)?.candidates.find((each) => each.id === candidateId.toLowerCase());
    if (candidate === undefined) throw new DomainError('not_found', 'The optimisation has no candidate with this id');
    const made = versions.ensure(principal, slug, {
      content: candidate.content,
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

  #version(projectId: string, slug: string, version: number | null): StoredVersion {
    const selector = version === null ? ({ by: 'tag', tag: LATEST } as const) : ({ by: 'number', version } as const);
    // The service of prompts throws the error that says whether the prompt or the version is missing.
    this.#options.versions.find(projectId, slug, selector);
    const found = this.#options.prompts.findVersion(projectId, slug, selector);
    if (found === undefined) throw new DomainError('not_found', 'The prompt has no version with this number');
    return found;
  }

  #judge(projectId: string, judgeId: string | null) {
    if (judgeId === null) return { judge: null, instruction: null };
    const judge = this.#options.judges.find(projectId, judgeId.toLowerCase());
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
      const content = this.#options.prompts.findVersion(projectId, slug, { by: 'number', version })?.content;
      return content === undefined || content.length > MAX_OTHER_CONTENT ? [] : [content];
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
    const examples = splitTrainingExamples(
      all.filter(({ span_id }) => usable.has(span_id)),
      by,
    );
    const explained = examples.training.filter(hasExplanation).length;
    if (explained < MIN_COMPLETIONS || examples.held_out.length < MIN_COMPLETIONS)
      throw new DomainError(
        'conflict',
        `There is too little feedback on this prompt: ${MIN_COMPLETIONS} completions with an expected output or a reason ` +
          `are needed to learn from, there are ${explained}; and ${MIN_COMPLETIONS} other ones with ${MEASURED_BY[by]} to measure ` +
          `by, there are ${examples.held_out.length}. A completion counts when its span is stored and has an input; a hash ` +
          `of its id says for what it is used.${by === 'judge' ? '' : ' With a `judge_id`, reasons and thumbs up count too.'}`,
      );
    return examples;
  }

  /** The examples without those deleted while spans were read; the job is told of later deletions. */
  #standing(promptId: string, { training, held_out }: TrainingExamples): TrainingExamples {
    const { feedback } = this.#options;
    const ids = new Set(trainingExamplesOf(feedback.ofPrompt(promptId, MAX_FEEDBACK)).map(({ span_id }) => span_id));
    const stands = ({ span_id }: { readonly span_id: string }) => ids.has(span_id);
    return { training: training.filter(stands), held_out: held_out.filter(stands) };
  }

  #require(projectId: string, slug: string, id: string): Job {
    const { prompt_id } = this.#version(projectId, slug, null);
    const job = this.#options.runner.find(projectId, OPTIMIZATION, id);
    if (job.subject_id !== prompt_id) throw new DomainError('not_found', 'There is no job with this id');
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
