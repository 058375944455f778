import { Readable } from 'node:stream';
import { Type, type Static } from '@sinclair/typebox';
import type { StoredScore } from '../../engine/traces/model/score/scores.js';
import type { StoredResult } from '../../engine/traces/model/experiment/results.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { defineRoute } from '../../http/route.js';
import { RunAnnotation, scoresOf, toRunAnnotation } from '../annotations/presented.js';
import { BASE, TAG } from '../tag.js';
import { ExperimentParams } from './experiment-routes.js';
import { RunRead, toRun } from './runs.js';

export interface JsonParts {
  readonly experiments: Pick<ExperimentService, 'find' | 'results'>;
  readonly scores: Pick<ScoreService, 'list'>;
}

const { id: _id, dataset_example_id, experiment_id: _experiment, ...run } = RunRead.properties;
const Line = Type.Object(
  {
    example_id: dataset_example_id,
    ...run,
    annotations: Type.Array(RunAnnotation, { description: 'Its scores.' }),
  },
  { $id: 'PhoenixRunWithAnnotations', description: 'A result of an experiment with its scores.' },
);

/** Results whose scores are read together, and how many of these. */
const AT_ONCE = 100;
const SCORES_AT_ONCE = 1_000;

/** All results of an experiment with their scores, as clients of Phoenix read them. */
export function jsonRoute(parts: JsonParts) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/experiments/:experiment_id/json`,
    operationId: 'downloadPhoenixExperiment',
    scopes: ['datasets:read', 'scores:read'],
    summary: 'Get all results of an experiment (Phoenix)',
    description: 'Returns all results with their scores.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    responses: { 200: { description: 'The results.', schema: Type.Array(Line) } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params: { experiment_id }, signal }) {
      parts.experiments.find(project_id, experiment_id);
      const stream = Readable.from(pieces(parts, project_id, experiment_id, signal), { objectMode: false });
      return { status: 200, contentType: 'application/json', stream };
    },
  });
}

async function* pieces(
  parts: JsonParts,
  projectId: string,
  experimentId: string,
  signal: AbortSignal,
): AsyncIterable<string> {
  const asked = { experimentId, repetition: null, rowIds: null, hasError: null, limit: AT_ONCE, count: false };
  let next = '[';
  for (let offset: number | null = 0; offset !== null;) {
    const read = await parts.experiments.results(projectId, { ...asked, offset }, signal);
    const scores = await scoresByResult(parts.scores, projectId, read.results, signal);
    for (const result of read.results) {
      yield next + JSON.stringify(toLine(experimentId, result, scores.get(result.id) ?? []));
      next = ',';
    }
    offset = read.next;
  }
  yield next === ',' ? ']' : '[]';
}

function toLine(experimentId: string, result: StoredResult, scores: readonly StoredScore[]): Static<typeof Line> {
  const {
    id: _ofResult,
    experiment_id: _ofExperiment,
    dataset_example_id: example_id,
    ...rest
  } = toRun(experimentId, result);
  return { example_id, ...rest, annotations: scores.map(toRunAnnotation) };
}

async function scoresByResult(
  scores: JsonParts['scores'],
  projectId: string,
  results: readonly StoredResult[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredScore[]>> {
  const found = new Map<string, StoredScore[]>();
  const ids = results.map(({ id }) => id);
  for (let offset = 0, read = SCORES_AT_ONCE; read === SCORES_AT_ONCE && ids.length > 0; offset += read) {
    const page = await scores.list(projectId, scoresOf(ids, { limit: SCORES_AT_ONCE, offset }), signal);
    read = page.scores.length;
    for (const score of page.scores) found.set(score.entity_id, [...(found.get(score.entity_id) ?? []), score]);
  }
  return found;
}
