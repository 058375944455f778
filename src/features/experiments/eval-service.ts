import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError, type Issue } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import type { Window } from '../../engine/schema/page.js';
import { invalid } from '../../engine/validation/validation.js';
import { inPortions } from '../../engine/work/portions.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import type { EvalInput, EvalPatch, EvalResults, EvalStatus } from './eval-schema.js';
import {
  ANY,
  MAX_RESULTS_AT_ONCE,
  type Experiment,
  type ExperimentFilter,
  type Phase,
  type StoredStatus,
} from './experiment.js';
import type { ExperimentService } from './experiment-service.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import type { GivenResult } from './given-result.js';
import { placeOf, type ResultIntake } from './result-intake.js';
import { isJsonObject } from '../../engine/json-object.js';

/** Most bytes of the rows that the results of one request are stored with: each result has all of its row. */
const MAX_ROW_BYTES = 512 * 1024 * 1024;

/** What each status of the SDK is. */
const STATUS_OF: Readonly<Record<Exclude<EvalStatus, 'expired'>, { status: StoredStatus; phase: Phase | null }>> = {
  running: { status: 'running', phase: null },
  scoring: { status: 'running', phase: 'scoring' },
  completed: { status: 'finished', phase: null },
  failed: { status: 'finished', phase: 'failed' },
  canceled: { status: 'canceled', phase: null },
};

export function evalStatusOf({ status, phase }: Pick<Experiment, 'status' | 'phase'>): EvalStatus {
  if (status === 'running') return phase === 'scoring' ? 'scoring' : 'running';
  if (status === 'finished') return phase === 'failed' ? 'failed' : 'completed';
  return status;
}

export interface EvalServiceParts {
  readonly experiments: ExperimentService;
  readonly intake: Pick<ResultIntake, 'store' | 'during'>;
  readonly datasets: Pick<DatasetService, 'rowSizes' | 'rowIds'>;
}

export interface EvalFilter {
  readonly datasetId: string | null;
  readonly status: EvalStatus | null;
}

type SentResult = EvalResults['results'][number];

/** What is answered for a result that was sent. */
interface AnsweredResult {
  readonly row_id: string;
  readonly id: string;
}

/** Experiments as the Python SDK knows them. */
export class EvalService {
  readonly #parts: EvalServiceParts;

  constructor(parts: EvalServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError as {@link ExperimentService.create} */
  create(by: Principal, input: EvalInput): Experiment {
    const { name, description, config, model_id, project_id, dataset_version_id, dataset_ref } = input;
    if (project_id != null && project_id !== by.project_id)
      throw invalid([{ pointer: '/project_id', detail: 'must be the project of the API key' }]);
    const version = dataset_version_id ?? dataset_ref;
    const draft = {
      ...{ name, description: description ?? null, parameters: config ?? null, dataset: input.dataset_id },
      repetitions: input.total_repetitions ?? null,
      dataset_version: version == null || version === '' ? null : version,
      subject: model_id == null || model_id === '' ? {} : { model: model_id },
    };
    const pointers = { '/parameters': '/config', '/repetitions': '/total_repetitions' };
    return renamed(pointers, () => this.#parts.experiments.create(by, draft));
  }

  list(projectId: string, { datasetId, status }: EvalFilter, window: Window, signal?: AbortSignal) {
    return this.#parts.experiments.listed(
      projectId,
      { ...ANY, dataset: datasetId, ...filterOf(status) },
      window,
      signal,
    );
  }

  /**
   * Changes an experiment, however it stands: the SDK says that a run is completed before it repeats, scores or resumes it.
   * @throws DomainError `not_found`; `conflict` for a canceled one
   */
  change(projectId: string, id: string, { status, total_repetitions, description }: EvalPatch): Experiment {
    const { experiments } = this.#parts;
    const { status: was } = experiments.find(projectId, id);
    if (status != null && was === 'canceled' && status !== 'canceled')
      throw new DomainError('conflict', 'The experiment is canceled');
    renamed({ '/repetitions': '/total_repetitions' }, () =>
      experiments.change(
        projectId,
        id,
        { description: description ?? null, repetitions: total_repetitions ?? null },
        true,
      ),
    );
    if (status == null) return experiments.find(projectId, id);
    const set = STATUS_OF[status];
    return experiments.setStatus(projectId, id, set.status, set.phase);
  }

  /**
   * Stores results: also of a finished experiment, as the SDK sends all of them again before it scores them.
   * @returns one for each that was sent
   * @throws DomainError `not_found`, `conflict` for one that is deleted or canceled, also meanwhile; as {@link ResultIntake.store}
   */
  post(projectId: string, id: string, { results }: EvalResults): Promise<AnsweredResult[]> {
    return this.#parts.intake.during(id, () => this.#post(projectId, id, results));
  }

  async #post(projectId: string, id: string, sent: readonly SentResult[]): Promise<AnsweredResult[]> {
    const experiment = this.#taking(projectId, id);
    const rowIds = await this.#rowIds(experiment, sent);
    const sizes = await this.#sizes(experiment, rowIds);
    if (rowIds.reduce((bytes, rowId) => bytes + (sizes.get(rowId) ?? 0), 0) > MAX_ROW_BYTES)
      throw new DomainError(
        'too_large',
        `The rows of these results have more than ${MAX_ROW_BYTES} bytes: send fewer results at once`,
      );
    const answer: AnsweredResult[] = [];
    // Of two with one row, the later counts.
    const latest = new Map<string, GivenResult>();
    for (const [index, result] of sent.entries()) {
      if (index % MAX_RESULTS_AT_ONCE === 0) await nextTurn();
      const given = toGiven(result, rowIds[index] ?? '');
      const own = resultId(id, given.row_id, given.repetition);
      latest.set(own, given);
      answer.push({ row_id: String(result.row_id), id: own });
    }
    const all = [...latest.values()];
    for (let from = 0; from < all.length; from += MAX_RESULTS_AT_ONCE) {
      const portion = all.slice(from, from + MAX_RESULTS_AT_ONCE);
      // It may have been deleted or canceled meanwhile.
      await this.#parts.intake.store(projectId, this.#taking(projectId, id), portion);
      await nextTurn();
    }
    return answer;
  }

  /** @throws DomainError `not_found`; `conflict` for a canceled one */
  #taking(projectId: string, id: string): Experiment {
    const experiment = this.#parts.experiments.find(projectId, id);
    if (experiment.status === 'canceled') throw new DomainError('conflict', 'The experiment is canceled');
    return experiment;
  }

  /** Bytes of rows, where they are there, read in portions: the SDK sends the results of all rows at once. */
  async #sizes(experiment: Experiment, rowIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const place = placeOf(experiment);
    const sizes = new Map<string, number>();
    await inPortions([...new Set(rowIds)], (portion) => {
      for (const [id, bytes] of this.#parts.datasets.rowSizes(place, portion)) sizes.set(id, bytes);
    });
    return sizes;
  }

  /** The id of the row of each result. What is no id of a row may be its place. */
  async #rowIds(experiment: Experiment, sent: readonly SentResult[]): Promise<string[]> {
    const { datasets } = this.#parts;
    const place = placeOf(experiment);
    const said = sent.map(({ row_id }) => normalizeText(String(row_id)));
    const known = await this.#sizes(experiment, said);
    const places = said.map((text) => (!known.has(text) && /^\d{1,6}$/.test(text) ? Number(text) : null));
    const last = places.reduce<number>((most, index) => Math.max(most, index ?? -1), -1);
    if (last < 0) return said;
    const ids: string[] = [];
    for (const portion of datasets.rowIds(place)) {
      ids.push(...portion.map(({ row_id }) => row_id));
      if (ids.length > last) break;
      await nextTurn();
    }
    return said.map((text, index) => ids[places[index] ?? -1] ?? text);
  }
}

function filterOf(status: EvalStatus | null): Pick<ExperimentFilter, 'status' | 'phase'> {
  if (status === null) return { status: null, phase: null };
  if (status === 'expired') return { status, phase: null };
  const { phase, ...set } = STATUS_OF[status];
  return { ...set, phase: phase ?? 'none' };
}

function toGiven({ result, trace_id, repetition_number }: SentResult, rowId: string): GivenResult {
  const { _runtime: runtime, ...output } = isJsonObject(result) ? result : {};
  const said = isJsonObject(runtime) ? runtime : {};
  const text = (name: string) => (typeof said[name] === 'string' && said[name] !== '' ? said[name] : null);
  const [message, code] = [text('error'), text('error_code')];
  const attempt = said['attempt'];
  return {
    ...{ row_id: rowId, repetition: repetition_number ?? 1, scores: {} },
    output: !isJsonObject(result) ? (result ?? null) : Object.keys(output).length === 0 ? null : output,
    error: message === null && code === null ? null : { message, code },
    trace_id: trace_id == null || trace_id === '' ? null : trace_id,
    attempt: typeof attempt === 'number' ? attempt : null,
  };
}

/** What a call answers, with what it finds wrong at the pointers of the SDK. */
function renamed<T>(pointers: Readonly<Record<string, string>>, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
    throw invalid(
      error.issues.map((issue): Issue => ({ ...issue, pointer: pointers[issue.pointer] ?? issue.pointer })),
    );
  }
}
