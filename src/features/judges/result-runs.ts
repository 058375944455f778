import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import type { ExperimentResults, ResultOutline } from '../../engine/traces/model/experiment/results.js';
import { columnsShown } from './judged-row.js';
import type { Judge } from './judge.js';
import { instructionIn, instructionOf } from './instruction.js';
import { judgeVersion } from './evaluation.js';
import { MAX_PINS, type Pin, type PinStore } from './pin.js';
import { LOST, type PinnedVersions } from './pinned-versions.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { queueQuota } from './queue-quota.js';
import type { RunDraft } from './run.js';
import type { RunStore } from './run-store.js';

/** The version that the judge is now, whatever the experiment was judged by before. */
export const CURRENT = 'current';
/** Results that are looked at and queued in one turn. */
const QUEUED_AT_ONCE = 500;
/** Columns that a problem names. */
const MAX_NAMED = 20;

/** An experiment, and the rows of which its results are. */
interface TriedExperiment {
  readonly dataset: { readonly id: string };
  readonly dataset_version: number;
}

export interface ResultRunsParts {
  readonly pins: PinStore;
  readonly pinned: PinnedVersions;
  readonly prompts: Pick<PromptStore, 'findVersion' | 'findVersionById'>;
  readonly experiments: { readonly find: (projectId: string, id: string) => TriedExperiment | undefined };
  readonly results: Pick<ExperimentResults, 'outlines'>;
  /** Columns of a version of a dataset; undefined: it is gone. */
  readonly columnsOf: (projectId: string, datasetId: string, version: number) => readonly string[] | undefined;
  readonly runs: Pick<RunStore, 'enqueue' | 'queued'>;
  readonly queueMax: number;
  readonly onQueued: () => void;
}

/** What became of the results of an experiment that a judge was to evaluate. */
export interface QueuedResults {
  readonly judge_version: string;
  readonly queued: number;
  /** Those for which the queue had no room. */
  readonly left: number;
  /** Those without an output. */
  readonly skipped: number;
}

export interface AskedResults {
  readonly experimentId: string;
  readonly judgeVersion: string | null;
}

/** Has judges evaluate the results of experiments, all by one version. Everything is inside the caller's project. */
export class ResultRuns {
  readonly #parts: ResultRunsParts;

  constructor(parts: ResultRunsParts) {
    this.#parts = parts;
  }

  /**
   * Queues what the version has not evaluated yet, as much as there is room for.
   * @throws DomainError `invalid`; `conflict` where the version cannot be had, or too many are kept; `overloaded` when the queue is
   * full; `unavailable`
   */
  async run(judge: Judge, { experimentId, judgeVersion: version }: AskedResults): Promise<QueuedResults> {
    const { experiments, pins } = this.#parts;
    const project = judge.project_id;
    const experiment = experiments.find(project, experimentId);
    if (experiment === undefined) throw noExperiment();
    const pin = await this.#version(judge, experimentId, version);
    this.#requireColumns(judge, pin, experiment.dataset.id, experiment.dataset_version);
    // It may have been deleted meanwhile.
    if (experiments.find(project, experimentId) === undefined) throw noExperiment();
    pins.ask(experimentId, pin.seq, Date.now() * 1000);
    const found = { queued: 0, left: 0, skipped: 0 };
    for await (const portion of this.#parts.results.outlines(project, experimentId)) {
      for (let from = 0; from < portion.length; from += QUEUED_AT_ONCE) {
        if (experiments.find(project, experimentId) === undefined) throw noExperiment();
        this.#queue(judge, pin, { experimentId, results: portion.slice(from, from + QUEUED_AT_ONCE) }, found);
        await nextTurn();
      }
    }
    if (found.queued === 0 && found.left > 0)
      throw new DomainError('overloaded', 'The queue has no room for more evaluations of this project', {
        retryAfterSeconds: 10,
      });
    return { judge_version: pin.judge_version, ...found };
  }

  /** Looks and queues in one turn, so that calls at the same time queue nothing twice. */
  #queue(
    judge: Judge,
    pin: Pin,
    { experimentId, results: portion }: { readonly experimentId: string; readonly results: readonly ResultOutline[] },
    found: { queued: number; left: number; skipped: number },
  ): void {
    const { pins, runs, queueMax, onQueued } = this.#parts;
    const judged = portion.filter(({ has_output }) => has_output);
    found.skipped += portion.length - judged.length;
    const verdicts = pins.verdicts(
      judge.project_id,
      pin,
      judged.map(({ id }) => id),
    );
    const missing = judged.filter((_result, place) => ['failed', 'missing'].includes(verdicts[place]?.state ?? ''));
    if (missing.length === 0) return;
    const now = Date.now() * 1000;
    const room = queueQuota(judge.project_id, runs.queued(), queueMax);
    const drafts = missing
      .slice(0, room)
      .map((result) => ({ ...draftOf(judge, pin, result), experiment_id: experimentId }));
    const queued = drafts.length === 0 ? 0 : runs.enqueue(drafts, now);
    found.queued += queued;
    found.left += missing.length - queued;
    if (queued > 0) onQueued();
  }

  /** The version that is named; else the one that the experiment was judged by last, or else the judge's now. */
  async #version(judge: Judge, experimentId: string, asked: string | null): Promise<Pin> {
    const { pins, prompts, pinned } = this.#parts;
    const now = instructionOf(prompts, judge)?.prompt_version_id;
    const last = pins
      .ofExperiment(judge.project_id, experimentId)
      .find(({ judge_id, lost_at }) => judge_id === judge.id && lost_at === null);
    const known = asked === CURRENT ? undefined : asked === null ? last : pins.find(judge.id, asked);
    if (known !== undefined) return requireHad(known);
    if (asked !== null && asked !== CURRENT) return this.#named(judge, asked, now);
    if (now === undefined)
      throw new DomainError('conflict', `The judge cannot run. There is no prompt ${judge.task_slug}`);
    return requireHad(requireKept(await pinned.pin(judge, now)));
  }

  /** A version that is not kept, but can be had: an instruction alone, or what the judge is now. */
  async #named(judge: Judge, asked: string, now: string | undefined): Promise<Pin> {
    const { prompts, pinned } = this.#parts;
    const [instruction = ''] = asked.split('/');
    const version = prompts.findVersionById(judge.project_id, instruction);
    if (version?.slug === judge.task_slug && asked === judgeVersion(version.id, null))
      return requireKept(pinned.pinWithout(judge, version.id));
    if (version !== undefined && version.id === now) {
      const pin = requireKept(await pinned.pin(judge, now));
      if (pin.judge_version === asked) return requireHad(pin);
    }
    const detail = `is no version of this judge that is kept: name one that was run on an experiment, or send ${CURRENT}`;
    throw invalid([{ pointer: '/judge_version', detail }]);
  }

  /** An instruction that names a column which there is not would show nothing in its place. */
  #requireColumns(judge: Judge, pin: Pin, datasetId: string, number: number): void {
    const { prompts, columnsOf } = this.#parts;
    const version = prompts.findVersionById(judge.project_id, pin.prompt_version_id);
    const shown = columnsShown(version === undefined ? '' : instructionIn(version).content);
    if (shown.length === 0) return;
    const columns = columnsOf(judge.project_id, datasetId, number);
    if (columns === undefined)
      throw new DomainError('conflict', 'The dataset of the experiment was deleted, whose rows the instruction shows');
    const unknown = shown.find((name) => !columns.includes(name));
    if (unknown === undefined) return;
    const known = columns.slice(0, MAX_NAMED).join(', ');
    const detail = `is of a dataset without the column ${unknown}, which the instruction shows; it has ${known || 'none'}`;
    throw invalid([{ pointer: '/experiment_id', detail }]);
  }
}

function draftOf(judge: Judge, pin: Pin, result: ResultOutline): RunDraft {
  const { id, span_trace_id, shown_trace_id, started_at } = result;
  return {
    ...{ id: randomUUID(), project_id: judge.project_id, judge_id: judge.id, origin: 'requested', pin: pin.seq },
    ...{ span_id: id, trace_id: span_trace_id, span_started_at: started_at },
    subject_id: judge.subject === 'trace' ? shown_trace_id : null,
  };
}

function requireHad(pin: Pin): Pin {
  if (pin.lost_at !== null)
    throw new DomainError('conflict', `${LOST}. Send judge_version ${CURRENT} to use the judge as it is now`);
  return pin;
}

function requireKept(pin: Pin | undefined): Pin {
  if (pin !== undefined) return pin;
  const detail = `This judge already keeps ${MAX_PINS} versions for experiments, the maximum. Delete experiments that use other versions`;
  throw new DomainError('conflict', detail);
}

function noExperiment(): DomainError {
  return invalid([{ pointer: '/experiment_id', detail: 'there is no experiment with this id' }]);
}
