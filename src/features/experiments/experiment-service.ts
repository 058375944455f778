import { DomainError, type Issue } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import type {
  ExperimentFigures,
  ExperimentResults,
  ResultQuery,
} from '../../engine/traces/model/experiment/results.js';
import { invalid } from '../../engine/validation/validation.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import {
  ANY,
  MAX_EXPERIMENTS,
  MAX_RESULTS,
  MAX_TAGS,
  requireRunning,
  type Experiment,
  type ExperimentDraft,
  type ExperimentFilter,
  type ExperimentPatch,
  type ExperimentRun,
  type ExperimentRuns,
  type ExperimentStore,
  type ExperimentTagMove,
  type Phase,
  type StoredStatus,
} from './experiment.js';
import { jsonIssues, type ExperimentInput, type ExperimentPatchInput } from './schema.js';

export interface ExperimentServiceParts {
  readonly experiments: ExperimentStore;
  readonly results: Pick<ExperimentResults, 'figures' | 'page'>;
  readonly datasets: Pick<DatasetService, 'find' | 'version'>;
  readonly runs: ExperimentRuns;
  /** Removes an experiment that is hidden; resolves when it is gone, or after a while. */
  readonly removeHidden: (projectId: string, id: string) => Promise<void>;
  readonly audit: AuditLog;
}

/** An experiment, and figures of its results. */
export interface MeasuredExperiment {
  readonly experiment: Experiment;
  /** Null: it has no results. */
  readonly figures: ExperimentFigures | null;
  /** Null: the server does not run it. */
  readonly run: ExperimentRun | null;
}

/** Experiments: what they try, and where they are. Everything is inside the caller's project. */
export class ExperimentService {
  readonly #parts: ExperimentServiceParts;

  constructor(parts: ExperimentServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`; `not_found` for the dataset or its version; `conflict` when there are too many */
  create({ project_id, user_id }: Principal, input: ExperimentInput): Experiment {
    const { name, description, repetitions, subject, parameters, dataset_version } = input;
    requireFitting([...jsonIssues({ subject, parameters })]);
    const { datasets, experiments } = this.#parts;
    const dataset = datasets.find(project_id, input.dataset);
    const version = datasets.version(dataset, String(dataset_version ?? 'latest'));
    const draft: ExperimentDraft = {
      ...{ name, description: description ?? '', repetitions: repetitions ?? 1, dataset },
      ...{ subject: subject ?? {}, parameters: parameters ?? {} },
      ...{
        dataset_version: version.number,
        rows: version.row_count,
        created_at: Date.now() * 1000,
        created_by: user_id,
      },
    };
    requireFitting(repetitionIssues(draft.rows, draft.repetitions));
    if (experiments.count(project_id, ANY) >= MAX_EXPERIMENTS)
      throw new DomainError(
        'conflict',
        `A project can have at most ${MAX_EXPERIMENTS} experiments: delete some that are not needed`,
      );
    return experiments.create(project_id, draft);
  }

  /** @throws DomainError `not_found` */
  find(projectId: string, id: string): Experiment {
    const found = this.#parts.experiments.find(projectId, id);
    if (found === undefined) throw new DomainError('not_found', 'There is no experiment with this id');
    return found;
  }

  /** The newest experiment of a dataset with a name. */
  named(projectId: string, datasetId: string, name: string): Experiment | undefined {
    return this.#parts.experiments.list(projectId, { ...ANY, dataset: datasetId, name }, { limit: 1, offset: 0 })[0];
  }

  /** Ids of the newest experiments with some names, on any dataset, by these. @throws DomainError `unavailable` */
  newestNamed(projectId: string, names: readonly string[]): ReadonlyMap<string, string> {
    return this.#parts.experiments.newestNamed(projectId, names);
  }

  count(projectId: string, filter: ExperimentFilter): number {
    return this.#parts.experiments.count(projectId, filter);
  }

  /** The experiment of a dataset that a tag points at. @throws DomainError `not_found` */
  tagged(projectId: string, datasetId: string, tag: string): Experiment {
    const id = this.#parts.experiments.tagged(projectId, datasetId, tag);
    const found = id === undefined ? undefined : this.#parts.experiments.find(projectId, id);
    if (found === undefined) throw new DomainError('not_found', `No experiment of this dataset has the tag ${tag}`);
    return found;
  }

  /** @throws DomainError `not_found`, `unavailable` */
  async get(projectId: string, id: string, signal?: AbortSignal): Promise<MeasuredExperiment> {
    const [measured] = await this.#measured(projectId, [this.find(projectId, id)], signal);
    if (measured === undefined) throw new Error('An experiment that was found was not measured');
    return measured;
  }

  /** Newest first. @throws DomainError `unavailable` */
  async list(
    projectId: string,
    filter: ExperimentFilter,
    window: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly experiments: readonly MeasuredExperiment[]; readonly total: number }> {
    const { experiments } = this.#parts;
    const found = experiments.list(projectId, filter, window);
    return {
      experiments: await this.#measured(projectId, found, signal),
      total: experiments.count(projectId, filter),
    };
  }

  /** The same without figures: only what seems to have expired is measured. @throws DomainError `unavailable` */
  async listed(
    projectId: string,
    filter: ExperimentFilter,
    window: Window,
    signal?: AbortSignal,
  ): Promise<readonly Experiment[]> {
    const found = this.#parts.experiments.list(projectId, filter, window);
    const expired = found.filter(({ status }) => status === 'expired');
    const measured = await this.#measured(projectId, expired, signal);
    const now = new Map(measured.map(({ experiment }) => [experiment.id, experiment]));
    return found.map((experiment) => now.get(experiment.id) ?? experiment);
  }

  async #measured(
    projectId: string,
    found: readonly Experiment[],
    signal?: AbortSignal,
  ): Promise<MeasuredExperiment[]> {
    const { results, runs } = this.#parts;
    const ids = found.map(({ id }) => id);
    // As they are now, as the experiments are.
    const shown = new Map(ids.map((id) => [id, runs.of(projectId, id)]));
    const figures =
      ids.length === 0 ? new Map<string, ExperimentFigures>() : await results.figures(projectId, ids, signal);
    return found.map((experiment) => {
      const own = figures.get(experiment.id) ?? null;
      return {
        experiment: this.#asOf(projectId, experiment, own),
        figures: own,
        run: shown.get(experiment.id) ?? null,
      };
    });
  }

  /** The experiment where spans that clients marked themselves are results, too: no one has noted when these came. */
  #asOf(projectId: string, experiment: Experiment, figures: ExperimentFigures | null): Experiment {
    if (experiment.status !== 'expired' || figures?.last_at == null || figures.last_at <= experiment.active_at)
      return experiment;
    this.#parts.experiments.noteActive(experiment.id, figures.last_at);
    return this.#parts.experiments.find(projectId, experiment.id) ?? experiment;
  }

  /**
   * @param whenEnded whether also the repetitions of one that has ended may change
   * @throws DomainError `not_found`, `invalid`; `conflict` for repetitions of one that has ended
   */
  change(projectId: string, id: string, input: ExperimentPatchInput, whenEnded = false): Experiment {
    const experiment = this.find(projectId, id);
    const { name, description, subject, repetitions } = input;
    requireFitting([
      ...jsonIssues({ subject }),
      ...(repetitions == null ? [] : repetitionIssues(experiment.rows, repetitions)),
    ]);
    if (repetitions != null && repetitions !== experiment.repetitions) {
      if (!whenEnded) requireRunning(experiment);
      if (this.#parts.runs.of(projectId, id)?.job.finished_at === null)
        throw new DomainError(
          'conflict',
          'The server runs the experiment: its repetitions cannot change until it has ended',
        );
    }
    const patch: ExperimentPatch = {
      ...(name != null && { name }),
      ...(description != null && { description }),
      ...(subject != null && { subject }),
      ...(repetitions != null && { repetitions }),
    };
    this.#parts.experiments.change(id, patch);
    return this.find(projectId, id);
  }

  /** @throws DomainError `not_found`; `conflict` where it has ended otherwise */
  end(projectId: string, id: string, status: 'finished' | 'canceled'): Experiment {
    const experiment = this.find(projectId, id);
    if (experiment.status === status) return experiment;
    requireRunning(experiment);
    return this.setStatus(projectId, id, status, null);
  }

  /** Ends it, or lets it continue, with what a client says beside that. */
  setStatus(projectId: string, id: string, status: StoredStatus, phase: Phase | null): Experiment {
    this.#parts.experiments.setStatus(id, status, phase, Date.now() * 1000);
    if (status !== 'running') this.#parts.runs.stop(projectId, id);
    return this.find(projectId, id);
  }

  /** Deletes an experiment with its results, which are gone with the answer unless they are many. @throws DomainError `not_found` */
  async remove(by: Principal, id: string): Promise<void> {
    const { project_id, user_id } = by;
    const { name: subject_name } = this.find(project_id, id);
    const { experiments, audit } = this.#parts;
    audit.together(() => {
      experiments.hide(project_id, id, Date.now() * 1000, user_id);
      audit.done({ event: 'experimentDeleted', by, project_id, subject_id: id, subject_name });
    });
    this.#parts.runs.stop(project_id, id);
    await this.#parts.removeHidden(project_id, id);
  }

  /** @throws DomainError `not_found`, `unavailable` */
  results(projectId: string, query: ResultQuery, signal?: AbortSignal) {
    this.find(projectId, query.experimentId);
    return this.#parts.results.page(projectId, query, signal);
  }

  /** Points a tag of the dataset's experiments at one. @throws DomainError `not_found`; `conflict` for a new tag beside too many */
  pin({ project_id, user_id }: Principal, id: string, tag: string): Experiment {
    const { dataset } = this.find(project_id, id);
    const { experiments } = this.#parts;
    const pointed = experiments.tagged(project_id, dataset.id, tag);
    if (pointed === undefined && experiments.countTags(project_id, dataset.id) >= MAX_TAGS)
      throw new DomainError(
        'conflict',
        `The experiments of a dataset can have at most ${MAX_TAGS} tags, including removed ones: move an existing tag`,
      );
    if (pointed !== id) experiments.moveTag(project_id, dataset.id, tag, id, Date.now() * 1000, user_id);
    return this.find(project_id, id);
  }

  /** @throws DomainError `not_found`, also where the tag points elsewhere */
  removeTag({ project_id, user_id }: Principal, id: string, tag: string): void {
    const { dataset } = this.find(project_id, id);
    if (this.#parts.experiments.tagged(project_id, dataset.id, tag) !== id)
      throw new DomainError('not_found', `The experiment has no tag ${tag}`);
    this.#parts.experiments.moveTag(project_id, dataset.id, tag, null, Date.now() * 1000, user_id);
  }

  /** Where a tag of the dataset's experiments pointed, newest first. @throws DomainError `not_found` */
  tagHistory(projectId: string, id: string, tag: string, window: Window): ExperimentTagMove[] {
    const { dataset } = this.find(projectId, id);
    const moves = this.#parts.experiments.tagMoves(projectId, dataset.id, tag, window);
    if (moves.length === 0 && window.offset === 0)
      throw new DomainError('not_found', `The experiments of the dataset have no tag ${tag}`);
    return moves;
  }
}

function requireFitting(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(issues);
}

function repetitionIssues(rows: number, repetitions: number): Issue[] {
  if (rows * repetitions <= MAX_RESULTS) return [];
  const detail = `would make ${rows * repetitions} results of ${rows} rows: an experiment can have at most ${MAX_RESULTS}`;
  return [{ pointer: '/repetitions', detail }];
}
