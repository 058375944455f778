import { DomainError, MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { sortedJson } from '../../engine/json-text.js';
import { NIL_UUID } from '../../engine/schema/ids.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import { KEEP_TAG } from '../../engine/traces/model/retention/keep-tag.js';
import type { ScoreValue } from '../../engine/traces/model/score/score.js';
import type { SpanInput } from '../../engine/traces/model/span/schema.js';
import { UnknownNames } from '../../engine/validation/unknown-names.js';
import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import { compileClosed, invalid } from '../../engine/validation/validation.js';
import type { DatasetService, VersionPlace } from '../datasets/dataset-service.js';
import type { SpanIngest } from '../traces/span-ingest.js';
import {
  MAX_RESULTS,
  MAX_RESULTS_AT_ONCE,
  requireRunning,
  type Experiment,
  type ExperimentStore,
} from './experiment.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import { ResultInput } from './schema.js';

/** Most bytes of the rows that the results of one request are stored with. */
const MAX_ROW_BYTES_AT_ONCE = 32 * 1024 * 1024;

/** A result that was checked. */
export interface GivenResult {
  readonly row_id: string;
  readonly repetition: number;
  readonly output: unknown;
  readonly error: { readonly message: string | null; readonly code: string | null } | null;
  /** The trace in which it was made; null: not said. */
  readonly trace_id: string | null;
  readonly scores: Readonly<Record<string, ScoreValue>>;
  /** How often it was tried; null: not said. */
  readonly attempt: number | null;
  /** When it was made; absent: now. */
  readonly times?: { readonly started_at: Micros; readonly ended_at: Micros };
}

export interface StoredId {
  readonly id: string;
  readonly row_id: string;
  readonly repetition: number;
}

export interface ResultIntakeParts {
  readonly experiments: ExperimentStore;
  readonly results: Pick<ExperimentResults, 'figures'>;
  readonly datasets: Pick<DatasetService, 'rowSizes' | 'namedRows'>;
  readonly ingest: Pick<SpanIngest, 'postSpans'>;
}

const validator = compileClosed(ResultInput);

/** Results that are being stored. */
interface Storing {
  /** Null: it only waits for others, which hold the rows. */
  readonly projectId: string | null;
  readonly experimentId: string;
  readonly done: Promise<unknown>;
}

/** Takes results of experiments in, and makes spans of them. */
export class ResultIntake implements WorkUnderWay {
  readonly #parts: ResultIntakeParts;
  readonly #underWay = new Set<Storing>();

  constructor(parts: ResultIntakeParts) {
    this.#parts = parts;
  }

  /**
   * Stores a result, or an array of results, all or none.
   * @throws DomainError `conflict` for one that takes none anymore, or whose dataset is gone; `invalid` with every issue;
   *   `too_large`; those of WriteLog
   */
  async post(projectId: string, experiment: Experiment, body: unknown): Promise<StoredId[]> {
    requireRunning(experiment);
    if (experiment.dataset.gone)
      throw new DomainError('conflict', 'The dataset of the experiment was deleted: its rows are not known any more');
    const { results, issues } = readResults(body);
    const sizes = this.#parts.datasets.rowSizes(
      placeOf(experiment),
      results.map(({ row_id }) => row_id),
    );
    issues.push(...rowIssues(results, experiment, sizes));
    const at = (index: number, issue: Issue) => ({
      ...issue,
      pointer: `${Array.isArray(body) ? `/${index}` : ''}${issue.pointer}`,
    });
    if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES).map(({ index, ...issue }) => at(index, issue)));
    if (sum(sizes.values()) > MAX_ROW_BYTES_AT_ONCE)
      throw new DomainError(
        'too_large',
        `The rows have more than ${MAX_ROW_BYTES_AT_ONCE} bytes: send fewer results at once`,
      );
    try {
      return await this.store(projectId, experiment, results);
    } catch (error) {
      throw asGiven(error, at);
    }
  }

  /**
   * Stores results, however the experiment stands. Those of rows that are not there are stored without the row.
   * @throws DomainError `conflict` with too many; what SpanIngest throws
   */
  async store(projectId: string, experiment: Experiment, results: readonly GivenResult[]): Promise<StoredId[]> {
    return this.#noted(projectId, experiment.id, this.#store(projectId, experiment, results));
  }

  /**
   * Does what stores results of an experiment several times: a deletion of the experiment waits for all of it. It must look for the
   * experiment each time.
   */
  during<T>(experimentId: string, work: () => Promise<T>): Promise<T> {
    return this.#noted(null, experimentId, work());
  }

  /** Does what stores a result, and other spans of rows: deletions of the experiment and of rows wait for it. */
  storing<T>(projectId: string, experimentId: string, work: () => Promise<T>): Promise<T> {
    return this.#noted(projectId, experimentId, work());
  }

  async #noted<T>(projectId: string | null, experimentId: string, done: Promise<T>): Promise<T> {
    const storing: Storing = { projectId, experimentId, done: done.catch(() => undefined) };
    this.#underWay.add(storing);
    try {
      return await done;
    } finally {
      this.#underWay.delete(storing);
    }
  }

  /** Resolves when what is in progress of an experiment is stored, or has failed. */
  async idle(experimentId: string): Promise<void> {
    await this.#ended((storing) => storing.experimentId === experimentId);
  }

  /** A row that is erased may have been read for a result: that is stored by then, and found. */
  async giveUp({ projectId }: DeletionScope): Promise<void> {
    await this.#ended((storing) => storing.projectId === projectId);
  }

  async #ended(which: (storing: Storing) => boolean): Promise<void> {
    await Promise.all([...this.#underWay].filter(which).map(({ done }) => done));
  }

  async #store(projectId: string, experiment: Experiment, results: readonly GivenResult[]): Promise<StoredId[]> {
    if (results.length === 0) return [];
    const { datasets, experiments, ingest } = this.#parts;
    const place = placeOf(experiment);
    const rowIds = results.map(({ row_id }) => row_id);
    const sizes = datasets.rowSizes(place, rowIds);
    await this.#requireRoom(projectId, experiment, rowIds.filter((rowId) => !sizes.has(rowId)).length);
    const stored: StoredId[] = [];
    for (const [from, to] of portions(rowIds, sizes)) {
      const portion = results.slice(from, to);
      const rows = datasets.namedRows(place, rowIds.slice(from, to));
      const spans = portion.map((result) => spanOf(experiment, result, rows.get(result.row_id) ?? null));
      const options = { minimal: true, mayRead: true, unknown: new UnknownNames() };
      await ingest.postSpans(projectId, spans, options);
      const strays = portion.filter(({ row_id }) => !sizes.has(row_id)).length;
      const repetitions = Math.max(...portion.map(({ repetition }) => repetition));
      experiments.noteResults(experiment.id, { strays, repetitions, at: Date.now() * 1000 });
      stored.push(
        ...portion.map(({ row_id, repetition }) => ({
          id: resultId(experiment.id, row_id, repetition),
          row_id,
          repetition,
        })),
      );
    }
    return stored;
  }

  /** Counts results only where so many of unknown rows came that there may be too many: those of its rows fit. */
  async #requireRoom(projectId: string, { id, rows, repetitions }: Experiment, strays: number): Promise<void> {
    const { experiments, results } = this.#parts;
    if (strays === 0 || rows * repetitions + experiments.strays(id) + strays <= MAX_RESULTS) return;
    const held = (await results.figures(projectId, [id])).get(id)?.results ?? 0;
    experiments.setStrays(id, held);
    if (held + strays > MAX_RESULTS)
      throw new DomainError('conflict', `An experiment can have at most ${MAX_RESULTS} results, and has ${held}`);
  }
}

export function placeOf({ dataset, dataset_version }: Pick<Experiment, 'dataset' | 'dataset_version'>): VersionPlace {
  return { id: dataset.gone ? '' : dataset.id, number: dataset_version };
}

type ElementIssue = Issue & { readonly index: number };

/** @throws DomainError `invalid` for too many */
function readResults(body: unknown): { readonly results: GivenResult[]; readonly issues: ElementIssue[] } {
  const elements: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (elements.length > MAX_RESULTS_AT_ONCE)
    throw invalid([{ pointer: '', detail: `must have at most ${MAX_RESULTS_AT_ONCE} results` }]);
  const issues: ElementIssue[] = [];
  const results = elements.flatMap((element, index) => {
    if (validator.accepts(element)) return [given(element)];
    const found = issues.length >= MAX_ISSUES ? [] : validator.issues(element, '', MAX_ISSUES - issues.length);
    issues.push(...found.map((issue) => ({ ...issue, index })));
    return [];
  });
  // What is wrong with rows is told by places, which are not known with some left out.
  if (issues.length > 0) return { results: [], issues };
  return { results, issues };
}

function given({ row_id, repetition, output_data: output, error, trace_id, scores }: ResultInput): GivenResult {
  return {
    ...{ row_id: normalizeText(row_id), repetition: repetition ?? 1, output: output ?? null, attempt: null },
    ...{ trace_id: trace_id ?? null, scores: scores ?? {} },
    error: error == null ? null : { message: error, code: null },
  };
}

function rowIssues(
  results: readonly GivenResult[],
  { dataset, dataset_version, repetitions }: Experiment,
  rows: ReadonlyMap<string, unknown>,
): ElementIssue[] {
  const seen = new Set<string>();
  return results.flatMap(({ row_id, repetition, trace_id }, index): ElementIssue[] => {
    const key = JSON.stringify([row_id, repetition]);
    const isTwice = seen.has(key);
    seen.add(key);
    return [
      ...(rows.has(row_id)
        ? []
        : [
            {
              index,
              pointer: '/row_id',
              detail: `is no row of version ${dataset_version} of ${JSON.stringify(dataset.name)}`,
            },
          ]),
      ...(repetition <= repetitions
        ? []
        : [
            {
              index,
              pointer: '/repetition',
              detail: `must be at most ${repetitions}, the repetitions of the experiment`,
            },
          ]),
      ...(isTwice
        ? [{ index, pointer: '/row_id', detail: 'has another result of the same repetition in this request' }]
        : []),
      ...(trace_id === NIL_UUID ? [{ index, pointer: '/trace_id', detail: 'must not be the nil UUID' }] : []),
    ];
  });
}

/** Results whose rows are stored with one write, from one index to before another. */
function* portions(rowIds: readonly string[], sizes: ReadonlyMap<string, number>): Iterable<readonly [number, number]> {
  let from = 0;
  let bytes = 0;
  for (const [index, rowId] of rowIds.entries()) {
    const own = sizes.get(rowId) ?? 0;
    if (bytes + own > MAX_ROW_BYTES_AT_ONCE && index > from) {
      yield [from, index];
      from = index;
      bytes = 0;
    }
    bytes += own;
  }
  yield [from, rowIds.length];
}

function spanOf({ id, name }: Experiment, result: GivenResult, row: string | null): SpanInput {
  const { row_id, repetition, error, trace_id, attempt, times } = result;
  const own = resultId(id, row_id, repetition);
  return {
    ...{ id: own, trace_id: own, name, kind: 'experiment' },
    started_at: times === undefined ? new Date().toISOString() : formatTimestamp(times.started_at),
    ...(times !== undefined && { ended_at: formatTimestamp(times.ended_at) }),
    ...{ input_data: row, output_data: textOf(result.output) },
    ...(error === null
      ? { status: 'ok' }
      : { status: 'error', error_message: error.message, ...(error.code !== null && { error_code: error.code }) }),
    attributes: {
      'spanhouse.experiment.id': id,
      'spanhouse.experiment.row_id': row_id,
      'spanhouse.experiment.repetition': repetition,
      ...(trace_id !== null && { 'spanhouse.experiment.trace_id': trace_id }),
      ...(attempt !== null && { 'spanhouse.experiment.attempt': attempt }),
    },
    // Results live as long as their experiment.
    trace_tags: { [KEEP_TAG]: true },
    signals: signalsOf(result.scores),
  };
}

/** @throws DomainError `too_large` */
function textOf(output: unknown): string | null {
  if (output === null || output === undefined || typeof output === 'string') return output ?? null;
  try {
    return sortedJson(output);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DomainError('too_large', 'An output is too large for JSON', { cause: error });
  }
}

/** Texts stay texts, whatever else they might say. */
function signalsOf(scores: GivenResult['scores']): NonNullable<SpanInput['signals']> {
  const signals = Object.entries(scores).map(([name, value]) => [
    name,
    typeof value === 'string' ? { value, type: 'categorical' as const } : value,
  ]);
  return Object.fromEntries(signals) as NonNullable<SpanInput['signals']>;
}

/** What is wrong with the span of a result, as what is wrong with the result. */
function asGiven(error: unknown, at: (index: number, issue: Issue) => Issue): unknown {
  if (!(error instanceof DomainError) || error.kind !== 'invalid') return error;
  return invalid(
    error.issues.map((issue) => {
      const [, index = '0', field = '', name] = issue.pointer.split('/');
      const pointer = field === 'signals' ? `/scores/${name ?? ''}` : field === 'output_data' ? '/output_data' : '';
      return at(Number(index), { ...issue, pointer });
    }),
  );
}

function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}
