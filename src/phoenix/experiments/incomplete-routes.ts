import { Type, type Static } from '@sinclair/typebox';
import type { ResultsRead, StoredResult } from '../../engine/traces/model/experiment/results.js';
import { PAGE_BYTES, type Dataset, type DatasetVersion } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import type { Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import { UNFINISHED_AFTER, type MissingResults } from '../../features/experiments/missing-results.js';
import { placeOf } from '../../features/experiments/result-intake.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { cursor, limit, nextCursor, offsetAt } from '../cursor.js';
import { ExampleRead, toExample } from '../datasets/examples.js';
import { BASE, TAG } from '../tag.js';
import { ExperimentParams } from './experiment-routes.js';
import { RunRead, toRun } from './runs.js';
import { isIn, splitsMeant } from './splits.js';

export interface PhoenixIncomplete {
  readonly experiments: Pick<ExperimentService, 'find' | 'results'>;
  readonly datasets: Pick<DatasetService, 'find' | 'version' | 'rowSizes' | 'namedRows'>;
  readonly missingResults: Pick<MissingResults, 'unfinished'>;
}

/** What an experiment still lacks, as clients of Phoenix go on with it. */
export function incompleteRoutes(services: PhoenixIncomplete) {
  return [runsRoute(services), evaluationsRoute(services)];
}

const IncompleteRuns = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        dataset_example: ExampleRead,
        repetition_numbers: Type.Array(Type.Integer({ minimum: 1 }), { description: 'Repetitions to run.' }),
      }),
      { description: 'A page of examples, in their order.' },
    ),
    next_cursor: nextCursor,
  },
  { $id: 'PhoenixIncompleteRuns', description: 'Examples that lack a result, or have one with an error.' },
);

function runsRoute({ experiments, datasets, missingResults }: PhoenixIncomplete) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/experiments/:experiment_id/incomplete-runs`,
    operationId: 'listPhoenixIncompleteRuns',
    scopes: ['datasets:read'],
    summary: 'List what an experiment still has to run (Phoenix)',
    description: 'Lists examples with the repetitions that have no result, or one with an error.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    query: queryOf(
      Type.Object({
        limit: limit('examples'),
        cursor: Type.Optional(
          Type.String({ pattern: UNFINISHED_AFTER, description: '`next_cursor` of the page before.' }),
        ),
      }),
    ),
    responses: { 200: { description: 'The examples.', schema: IncompleteRuns } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id: projectId }, params, query, signal }) {
      const experiment = experiments.find(projectId, params.experiment_id);
      const asked = { after: query.cursor ?? null, limit: query.limit };
      const examples = new Examples(datasets, projectId, experiment);
      const isMeant = (rowId: string) => examples.isMeant(rowId);
      const { rows, next } = await missingResults.unfinished(projectId, experiment, asked, signal, isMeant);
      const ids = rows.map(({ row_id }) => row_id);
      const kept = examples.fitting(ids);
      const last = kept < rows.length ? rows[kept - 1] : undefined;
      const data = rows.slice(0, kept).flatMap(({ row_id, repetitions }) => {
        const example = examples.get(row_id);
        return example === null ? [] : [{ dataset_example: example, repetition_numbers: [...repetitions] }];
      });
      return { status: 200, body: { data, next_cursor: last ? `${last.position}-${last.seq}` : next } };
    },
  });
}

const IncompleteEvaluations = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        experiment_run: RunRead,
        dataset_example: ExampleRead,
        evaluation_names: Type.Array(Type.String(), { description: 'Names of scores that the result lacks.' }),
      }),
      { description: 'A page of results, by example and repetition.' },
    ),
    next_cursor: nextCursor,
  },
  { $id: 'PhoenixIncompleteEvaluations', description: 'Results that lack a score.' },
);

/** Results that are looked at together. */
const AT_ONCE = 1_000;
const scoreName = Type.String({ minLength: 1, maxLength: 200, description: 'Name of a score.' });

function evaluationsRoute({ experiments, datasets }: PhoenixIncomplete) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/experiments/:experiment_id/incomplete-evaluations`,
    operationId: 'listPhoenixIncompleteEvaluations',
    scopes: ['datasets:read', 'scores:read'],
    summary: 'List results that lack scores (Phoenix)',
    description: 'Lists results without an error that have no score of one of the names.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    query: queryOf(
      Type.Object({
        evaluation_name: csv(scoreName, { maxItems: 100, description: 'Names of scores.' }),
        limit: limit('results', 200),
        cursor,
      }),
    ),
    responses: { 200: { description: 'The results.', schema: IncompleteEvaluations } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id: projectId }, params, query, signal }) {
      const experiment = experiments.find(projectId, params.experiment_id);
      const examples = new Examples(datasets, projectId, experiment);
      const asked = { experimentId: experiment.id, repetition: null, rowIds: null, hasError: false };
      const read = (offset: number) =>
        experiments.results(projectId, { ...asked, limit: AT_ONCE, offset, count: false }, signal);
      const wanted = { offset: offsetAt(query.cursor), limit: query.limit };
      const isLacking = (result: StoredResult) => lacking(result, query.evaluation_name, experiment, examples);
      return { status: 200, body: await pageOf(read, isLacking, wanted) };
    },
  });
}

type Lacking = Static<typeof IncompleteEvaluations>;

/** Goes through results until a page is full. It is empty only where nothing is left: clients end there. */
async function pageOf(
  read: (offset: number) => Promise<ResultsRead>,
  isLacking: (result: StoredResult) => Lacking['data'],
  { offset, limit: most }: { readonly offset: number; readonly limit: number },
): Promise<Lacking> {
  const data: Lacking['data'] = [];
  let bytes = 0;
  for (let from: number | null = offset; from !== null;) {
    const { results, next } = await read(from);
    for (const [index, result] of results.entries()) {
      const found = isLacking(result);
      if (found.length === 0) continue;
      data.push(...found);
      bytes += JSON.stringify(found).length;
      if (data.length === most || bytes > PAGE_BYTES) return { data, next_cursor: String(from + index + 1) };
    }
    from = next;
  }
  return { data, next_cursor: null };
}

function lacking(
  result: StoredResult,
  names: readonly string[],
  { id }: Experiment,
  examples: Examples,
): Lacking['data'] {
  const lacks = names.filter((name) => !Object.hasOwn(result.scores, name));
  const example = lacks.length === 0 ? null : examples.get(result.row_id);
  if (example === null) return [];
  return [{ experiment_run: toRun(id, result), dataset_example: example, evaluation_names: lacks }];
}

/** The examples of an experiment, by the ids of their rows. */
class Examples {
  readonly #datasets: PhoenixIncomplete['datasets'];
  readonly #place: ReturnType<typeof placeOf>;
  readonly #row: { readonly dataset: Dataset; readonly version: DatasetVersion } | null;
  readonly #splits: readonly string[] | null;

  constructor(datasets: PhoenixIncomplete['datasets'], projectId: string, experiment: Experiment) {
    this.#datasets = datasets;
    this.#place = placeOf(experiment);
    this.#splits = splitsMeant(experiment)?.splits ?? null;
    const dataset = experiment.dataset.gone ? null : datasets.find(projectId, experiment.dataset.id);
    this.#row = dataset && { dataset, version: datasets.version(dataset, String(experiment.dataset_version)) };
  }

  /** How many of the first rows a page has, of about so many bytes as a page has; one at least. */
  fitting(rowIds: readonly string[]): number {
    const sizes = this.#datasets.rowSizes(this.#place, rowIds);
    let bytes = 0;
    const end = rowIds.findIndex((id, index) => (bytes += sizes.get(id) ?? 0) > PAGE_BYTES && index > 0);
    return end === -1 ? rowIds.length : end;
  }

  /** Whether the experiment is about a row. */
  isMeant(rowId: string): boolean {
    if (this.#splits === null || this.#row === null) return true;
    const content = this.#datasets.namedRows(this.#place, [rowId]).get(rowId);
    return content !== undefined && isIn(content, this.#row.dataset, this.#splits);
  }

  /** Null: it was erased, or its dataset is gone. */
  get(rowId: string): ExampleRead | null {
    const content = this.#datasets.namedRows(this.#place, [rowId]).get(rowId);
    return content === undefined || this.#row === null ? null : toExample(this.#row, { row_id: rowId, content });
  }
}
