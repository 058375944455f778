import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { uuid } from '../../engine/schema/parts.js';
import { withTurns } from '../../engine/work/portions.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { BASE, TAG } from '../tag.js';
import { DatasetParams, versionId, type PhoenixDatasets } from './dataset-routes.js';
import { ExampleRead, splitsOf, toExample } from './examples.js';

const splitName = Type.String({ minLength: 1, maxLength: 200, description: 'A split.' });
const Examples = Type.Object(
  {
    data: Type.Object(
      {
        dataset_id: uuid('Id of the dataset.'),
        version_id: Type.String({ description: 'Id of the version; empty: there is none yet.' }),
        filtered_splits: Type.Array(Type.String(), { description: 'The splits that were asked for.' }),
        examples: Type.Array(ExampleRead, { description: 'The examples, in their order.' }),
      },
      { description: 'What the version has.' },
    ),
  },
  { $id: 'PhoenixExamples', description: 'The examples of a version of a dataset.' },
);

const Query = queryOf(
  Type.Object({
    version_id: versionId,
    split: Type.Optional(csv(splitName, { maxItems: 100, description: 'Only examples in one of these splits.' })),
  }),
);

/** All examples of a version, as clients of Phoenix read them. */
export function exampleRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/datasets/:dataset_id/examples`,
    operationId: 'listPhoenixExamples',
    scopes: ['datasets:read'],
    summary: 'List examples of a dataset (Phoenix)',
    description: 'Returns all rows of a version of a dataset, by default of the newest.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: DatasetParams,
    query: Query,
    responses: { 200: { description: 'The examples.', schema: Examples } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id: projectId }, params, query: { version_id, split } }) {
      const dataset = datasets.find(projectId, params.dataset_id);
      const version = version_id === undefined ? datasets.newest(dataset) : datasets.version(dataset, version_id);
      const pieces = examplesText(datasets, { projectId, dataset, version, splits: split ?? [] });
      const stream = Readable.from(withTurns(pieces), { objectMode: false });
      return { status: 200, contentType: 'application/json', stream };
    },
  });
}

interface Asked {
  readonly projectId: string;
  readonly dataset: Dataset;
  readonly version: DatasetVersion | null;
  readonly splits: readonly string[];
}

/** Rows may be many, so that none is held longer than it takes to write it. */
function* examplesText(datasets: PhoenixDatasets, { projectId, dataset, version, splits }: Asked): Iterable<string> {
  const head = { dataset_id: dataset.id, version_id: version?.id ?? '', filtered_splits: splits };
  let next = `{"data":${JSON.stringify(head).slice(0, -1)},"examples":[`;
  if (version !== null)
    for (const row of datasets.allRows(projectId, version)) {
      if (splits.length > 0 && !splitsOf(row.content, dataset).some((split) => splits.includes(split))) continue;
      yield next + JSON.stringify(toExample({ dataset, version }, row));
      next = ',';
    }
  yield next === ',' ? ']}}' : `${next}]}}`;
}
