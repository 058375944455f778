import { DomainError } from '../../engine/errors.js';
import type { JobHead } from '../../engine/work/job.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { TagMove } from '../../engine/schema/tag.js';

/** Most experiments of a project. */
export const MAX_EXPERIMENTS = 10_000;
/** Most results of an experiment. */
export const MAX_RESULTS = 1_000_000;
/** Most repetitions of an experiment. */
export { MAX_REPETITION as MAX_REPETITIONS } from '../../engine/traces/model/experiment/mark.js';
/** Most results in one request. */
export const MAX_RESULTS_AT_ONCE = 1_000;
/** Characters of a row that are shown beside a result, of each text. */
export const MAX_BEGINNING = 600;
/** Most tags that the experiments of a dataset ever had. */
export const MAX_TAGS = 1_000;
/** An experiment without a result for so long has expired. */
export const EXPIRES_AFTER_MICROS = 24 * 60 * 60 * 1e6;

/** What is stored; one that runs may have expired. */
export const STORED_STATUSES = ['running', 'finished', 'canceled'] as const;
export const STATUSES = [...STORED_STATUSES, 'expired'] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];
export type Status = (typeof STATUSES)[number];

/** What some clients say beside the status: results are being scored, or the run failed. */
export const PHASES = ['scoring', 'failed'] as const;
export type Phase = (typeof PHASES)[number];

type Json = Readonly<Record<string, unknown>>;

/** A dataset as an experiment knows it. */
export interface ExperimentDataset {
  readonly id: string;
  readonly name: string;
  /** It was deleted. */
  readonly gone: boolean;
}

export interface Experiment {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly dataset: ExperimentDataset;
  /** Number of the version. */
  readonly dataset_version: number;
  /** Rows of the version. */
  readonly rows: number;
  readonly repetitions: number;
  readonly status: Status;
  readonly phase: Phase | null;
  readonly subject: Json;
  readonly parameters: Json;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly finished_at: Micros | null;
  readonly active_at: Micros;
  /** Tags that point at it. */
  readonly tags: readonly string[];
}

export interface ExperimentDraft extends Pick<
  Experiment,
  'name' | 'description' | 'dataset_version' | 'rows' | 'repetitions' | 'subject' | 'parameters' | 'created_at'
> {
  readonly created_by: string;
  readonly dataset: Pick<ExperimentDataset, 'id' | 'name'>;
}

export type ExperimentPatch = Partial<
  Pick<Experiment, 'name' | 'description' | 'subject' | 'parameters' | 'repetitions'>
>;

/** Which experiments are listed; null: any. */
export interface ExperimentFilter {
  /** Text that the name contains, whatever its case. */
  readonly q: string | null;
  readonly name: string | null;
  /** Name or id. */
  readonly dataset: string | null;
  readonly status: Status | null;
  readonly phase: Phase | 'none' | null;
  readonly tag: string | null;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly prompt: string | null;
}

export const ANY: ExperimentFilter = {
  ...{ q: null, name: null, dataset: null, status: null, phase: null, tag: null, commit: null, branch: null },
  prompt: null,
};

/** @throws DomainError `conflict`; one that has expired goes on */
export function requireRunning({ status }: Experiment): void {
  if (status === 'finished' || status === 'canceled') throw new DomainError('conflict', `The experiment is ${status}`);
}

/** A move of a tag to an experiment. */
export type ExperimentTagMove = TagMove<{ readonly id: string; readonly name: string | null }>;

/** What is noted of results that came. */
export interface NotedResults {
  /** Those of rows that the version does not have. */
  readonly strays: number;
  /** The highest of their repetitions. */
  readonly repetitions: number;
  readonly at: Micros;
}

/**
 * Experiments and their tags.
 * @throws DomainError `unavailable` when the store does not answer; nothing is written then
 */
export interface ExperimentStore {
  create(projectId: string, draft: ExperimentDraft): Experiment;
  find(projectId: string, id: string): Experiment | undefined;
  /** Newest first. */
  list(projectId: string, filter: ExperimentFilter, window: Window): Experiment[];
  /** Ids of the newest experiments with some names, by these; cheap, however many there are. */
  newestNamed(projectId: string, names: readonly string[]): ReadonlyMap<string, string>;
  count(projectId: string, filter: ExperimentFilter): number;
  change(id: string, patch: ExperimentPatch): void;
  setStatus(id: string, status: StoredStatus, phase: Phase | null, at: Micros): void;
  /** Notes that results came, and how many repetitions there are at least. */
  noteResults(id: string, noted: NotedResults): void;
  /** How many results of rows that the version does not have came, also again. */
  strays(id: string): number;
  setStrays(id: string, strays: number): void;
  /** Notes that it was active then, too. */
  noteActive(id: string, at: Micros): void;
  /** Hides an experiment for good, and takes its tags. */
  hide(projectId: string, id: string, at: Micros, by: string): void;
  /** Those that are hidden, and not forgotten. */
  hidden(): { readonly id: string; readonly project_id: string }[];
  /** Removes what is left of a hidden experiment. */
  forget(id: string): void;

  /** The experiment of a dataset that a tag points at. */
  tagged(projectId: string, datasetId: string, tag: string): string | undefined;
  countTags(projectId: string, datasetId: string): number;
  moveTag(projectId: string, datasetId: string, tag: string, id: string | null, at: Micros, by: string): void;
  /** Newest first. */
  tagMoves(projectId: string, datasetId: string, tag: string, window: Window): ExperimentTagMove[];
}

/** The job by which the server makes the results of an experiment itself. */
export interface ExperimentRun {
  readonly job: JobHead;
  /** US dollars so far; null: unknown. */
  readonly cost: number | null;
  readonly max_cost: number | null;
  /** Why it waits; null: it does not. */
  readonly waiting_reason: string | null;
}

export interface ExperimentRuns {
  /** Null: the server does not run the experiment. */
  of(projectId: string, experimentId: string): ExperimentRun | null;
  /** Stops a run that is not over; of others, nothing happens. */
  stop(projectId: string, experimentId: string): void;
}

/** Most scorers and metrics of an experiment. */
export const MAX_SCORERS = 200;
export const MAX_METRICS = 1_000;
/** Most bytes, as JSON, of all scorers of an experiment, and of all its metrics: each read has all of them. */
export const MAX_SCORER_BYTES = 2 * 1024 * 1024;
export const MAX_METRIC_BYTES = 1024 * 1024;

export const SCORER_MODES = ['row', 'column', 'run'] as const;
export const METRIC_SCOPES = ['column', 'run'] as const;

/** A program of a client that scores results. */
export interface Scorer {
  readonly id: string;
  readonly name: string;
  readonly mode: (typeof SCORER_MODES)[number];
  readonly code: string;
  readonly description: string;
  /** Names of its scores. */
  readonly outputs: readonly string[];
  readonly output_formats: Readonly<Record<string, string>>;
  readonly created_at: Micros;
}

/** Figures of a run as a client computed them. */
export interface StatedMetric {
  readonly scope: (typeof METRIC_SCOPES)[number];
  readonly name: string;
  /** The only repetition; 0: all. */
  readonly repetition: number;
  readonly results: Json;
  readonly output_formats: Readonly<Record<string, string>>;
  readonly created_at: Micros;
}

/** What clients keep with an experiment. @throws DomainError `unavailable` */
export interface ScoringStore {
  scorers(experimentId: string): Scorer[];
  /** That of the same name and mode, if there is one, else a new one. */
  ensureScorer(experimentId: string, draft: Omit<Scorer, 'id'>): Scorer;
  setFormats(scorerId: string, formats: Readonly<Record<string, string>>): void;
  /** Removes a scorer, with the figures of its name and scope. */
  removeScorer(experimentId: string, scorer: Pick<Scorer, 'id' | 'name' | 'mode'>): void;
  metrics(experimentId: string): StatedMetric[];
  putMetric(experimentId: string, metric: StatedMetric): void;
}
