import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Job, JobHead } from '../../engine/work/job.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import type { JobStore } from '../../engine/work/job.js';
import { estimatedCost, type EstimatedCost } from '../judges/estimated-cost.js';
import { instructionOf } from '../judges/instruction.js';
import type { Judge } from '../judges/judge.js';
import type { JudgeStore } from '../judges/judge-store.js';
import type { ModelClient } from '../../engine/models/model-client.js';
import type { StoredVersion } from '../prompts/prompt.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { normalizeCost } from '../../engine/schema/normalize.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { MAX_MICROS, type Micros } from '../../engine/timestamp.js';
import { isHeldOutWithRow } from '../trials/held-out.js';
import { isEnough, readinessOf, type Halves, type Readiness } from '../trials/readiness.js';
import { CALIBRATION_TRIAL, type TrialInput } from './calibration-trial.js';
import type { ExamplesWeight, ExamplesWeights } from './examples-weight.js';
import { calibrationOf, type Calibration } from './report.js';
import { DEFAULT_TRIAL_SPANS, type TrialInputBody } from './schema.js';
import type { Correction, CorrectionStore } from './correction.js';
import type { CalibrationTrial, CalibrationTrialHead, TrialAbout } from './trial.js';
import type { TrialResult } from './trial-result.js';
import { truthsOf } from './truths.js';
import type { Grouping } from './versions.js';

export interface CalibrationServiceOptions {
  readonly corrections: CorrectionStore;
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly prompts: Pick<PromptStore, 'findVersion' | 'findVersionById'>;
  readonly jobs: Pick<JobStore, 'list'>;
  readonly runner: Pick<JobRunner, 'create' | 'cancel' | 'find'>;
  /** The model endpoint; null: none is configured. */
  readonly endpoint: Pick<ModelClient, 'defaultModel'> | null;
  readonly weights: Pick<ExamplesWeights, 'of'>;
  readonly price: PriceModelCall;
  /** Whether judges are shown corrections as examples. */
  readonly showsExamples: boolean;
}

/** Corrections that a report counts; null: no bound. */
export interface CalibrationQuery {
  /** Earliest time of corrections, inclusive, as `end` is the latest. */
  readonly start: Micros | null;
  readonly end: Micros | null;
  readonly versions: Grouping;
}

/** How far a judge and people agree, and whether it can be tried. */
export interface CalibrationReport extends Calibration {
  /** Of the corrections that the next evaluation is made with; null: judges are shown none. */
  readonly revision: number | null;
  readonly trial: Readiness;
}

/** What the corrections add to each call of the judge's model. */
export interface CorrectionsPerCall extends EstimatedCost {
  readonly corrections: number;
  readonly input_tokens: number;
  readonly model: string | null;
}

/** Fewer would say nothing about a judge, and leave it nothing to learn from. */
const MIN_SPANS = { held_out: 4, training: 1 };
const MAX_LISTED = 100;
const SPANS_UNREADABLE: ReadonlySet<string> = new Set(['unavailable', 'overloaded']);

const CAN_RUN = 'Run a trial of the judge with `calibration:evaluate`';

export const NO_ENDPOINT = 'No model endpoint is configured: set JUDGE_LLM_BASE_URL';

/** Reports on how far judges and people agree, and trials of what corrections are worth. */
export class CalibrationService {
  readonly #options: CalibrationServiceOptions;

  constructor(options: CalibrationServiceOptions) {
    this.#options = options;
  }

  /** Also of a deleted judge. @throws DomainError `not_found` */
  report(projectId: string, judgeId: string, { start, end, versions }: CalibrationQuery): CalibrationReport {
    const judge = this.#require(projectId, judgeId);
    const { corrections } = this.#options;
    const all = corrections.between(judgeId, 0, MAX_MICROS);
    const counted = start === null && end === null ? all : corrections.between(judgeId, start ?? 0, end ?? MAX_MICROS);
    return {
      ...calibrationOf(judgeId, counted, corrections.versions(judgeId), versions),
      revision: this.#options.showsExamples ? corrections.revision(judgeId) : null,
      trial: this.#plan(judge, all).readiness,
    };
  }

  /**
   * What its corrections add to each call of a judge, by the newest of them; null: it is shown none, or their spans cannot
   * be read now. @throws DomainError `not_found`
   */
  async perCall(projectId: string, judgeId: string): Promise<CorrectionsPerCall | null> {
    const judge = this.#require(projectId, judgeId);
    const weight = judge.deleted_at === null ? await this.#weightOf(judge) : null;
    if (weight === null) return null;
    const { endpoint, price, prompts } = this.#options;
    const model = judge.model ?? instructionOf(prompts, judge)?.model_id ?? endpoint?.defaultModel ?? null;
    const { cost, cost_unknown_reason } = estimatedCost(price, projectId, model, { input: weight.tokens, output: 0 });
    return {
      corrections: weight.corrections,
      input_tokens: weight.tokens,
      model,
      cost: cost === null ? null : normalizeCost(cost),
      cost_unknown_reason,
    };
  }

  /** Figures of agreement are in SQLite alone, and answered while spans cannot be read. */
  async #weightOf({ project_id, id }: Judge): Promise<ExamplesWeight | null> {
    try {
      return await this.#options.weights.of(project_id, id);
    } catch (error) {
      if (error instanceof DomainError && SPANS_UNREADABLE.has(error.kind)) return null;
      throw error;
    }
  }

  /**
   * Creates a trial on the held-out half of the corrected spans.
   * @throws DomainError `not_found`; `conflict` when no model can be asked or there are too few corrections
   */
  evaluate({ project_id, user_id }: Principal, judgeId: string, body: TrialInputBody): CalibrationTrial {
    const judge = this.#require(project_id, judgeId);
    if (judge.deleted_at !== null) throw new DomainError('not_found', 'There is no judge with this id');
    const { instruction, version, heldOut, readiness } = this.#plan(
      judge,
      this.#options.corrections.between(judgeId, 0, MAX_MICROS),
    );
    if (!readiness.ready || instruction === undefined || version === undefined)
      throw new DomainError('conflict', readiness.next);
    const input: TrialInput = {
      judge,
      instruction,
      held_out: heldOut.slice(0, body.max_spans ?? DEFAULT_TRIAL_SPANS),
    };
    const summary: TrialAbout = {
      judge_id: judgeId,
      prompt_version: version.version,
      held_out: input.held_out.length,
      examples: readiness.training.have,
    };
    const draft = { project_id, kind: CALIBRATION_TRIAL, subject_id: judgeId, summary, input, created_by: user_id };
    return trialOf(this.#options.runner.create(draft));
  }

  /** @throws DomainError `not_found` */
  trial(projectId: string, judgeId: string, id: string): CalibrationTrial {
    return trialOf(this.#requireTrial(projectId, judgeId, id));
  }

  /** The newest hundred, newest first. @throws DomainError `not_found` */
  trials(projectId: string, judgeId: string): CalibrationTrialHead[] {
    this.#require(projectId, judgeId);
    return this.#options.jobs.list(projectId, CALIBRATION_TRIAL, judgeId, MAX_LISTED).map(headOf);
  }

  /** @throws DomainError `not_found`; `conflict` when it has ended */
  cancel(projectId: string, judgeId: string, id: string): CalibrationTrial {
    this.#requireTrial(projectId, judgeId, id);
    return trialOf(this.#options.runner.cancel(projectId, CALIBRATION_TRIAL, id));
  }

  /** What a trial of a judge would work with, and whether it can run. @param all its corrections */
  #plan(judge: Judge, all: readonly Correction[]) {
    const { prompts } = this.#options;
    const instruction = instructionOf(prompts, judge);
    const version = instruction && prompts.findVersionById(judge.project_id, instruction.prompt_version_id);
    const truths = truthsOf(all);
    const heldOut = truths.filter(isHeldOutWithRow);
    const halves = {
      training: { needed: MIN_SPANS.training, have: truths.length - heldOut.length },
      held_out: { needed: MIN_SPANS.held_out, have: heldOut.length },
    };
    const obstacle = this.#obstacle(judge, version, halves);
    return { instruction, version, heldOut, readiness: readinessOf(halves, obstacle, CAN_RUN) };
  }

  #obstacle(judge: Judge, version: StoredVersion | undefined, halves: Halves): string | null {
    if (judge.deleted_at !== null) return 'The judge is deleted and cannot be tested';
    if (this.#options.endpoint === null) return NO_ENDPOINT;
    if (version === undefined) return `There is no prompt ${judge.task_slug}, which holds the instruction`;
    return isEnough(halves) ? null : tooLittle(halves);
  }

  #require(projectId: string, judgeId: string): Judge {
    const judge = this.#options.judges.find(projectId, judgeId);
    if (judge === undefined) throw new DomainError('not_found', 'There is no judge with this id');
    return judge;
  }

  #requireTrial(projectId: string, judgeId: string, id: string): Job {
    this.#require(projectId, judgeId);
    const job = this.#options.runner.find(projectId, CALIBRATION_TRIAL, id);
    if (job.subject_id !== judgeId) throw new DomainError('not_found', 'There is no job with this id');
    return job;
  }
}

function tooLittle({ training, held_out }: Halves): string {
  return (
    `Give feedback on this judge's evaluations of more spans: ${held_out.needed} spans are needed in the held-out half and ` +
    `${training.needed} in the training half; there are ${held_out.have} and ${training.have}. A hash of the span id decides ` +
    'its half.'
  );
}

function headOf(job: JobHead): CalibrationTrialHead {
  return { ...job, about: job.summary as TrialAbout };
}

function trialOf(job: Job): CalibrationTrial {
  return { ...headOf(job), result: job.result as TrialResult | null };
}
