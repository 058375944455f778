import type { Lists } from '../engine/traces/model/list/lists.js';
import type { DatasetService } from '../features/datasets/dataset-service.js';
import type { ExperimentService } from '../features/experiments/experiment-service.js';
import type { MissingResults } from '../features/experiments/missing-results.js';
import type { ResultIntake } from '../features/experiments/result-intake.js';
import type { ScoreService } from '../features/scores/score-service.js';
import type { ExportTraces } from '../otlp/export.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import { annotationRoutes } from './annotations/annotation-routes.js';
import { readAnnotationsRoutes } from './annotations/read-route.js';
import { datasetRoutes } from './datasets/dataset-routes.js';
import { exampleRoute } from './datasets/example-route.js';
import { uploadRoute } from './datasets/upload-route.js';
import { evaluationRoute } from './experiments/evaluation-route.js';
import { experimentRoutes } from './experiments/experiment-routes.js';
import { incompleteRoutes } from './experiments/incomplete-routes.js';
import { jsonRoute } from './experiments/json-route.js';
import { runRoutes } from './experiments/run-routes.js';
import { linkRoutes, type LinkParts } from './link-routes.js';
import { promptRoutes, type PhoenixPrompts } from './prompts/prompt-routes.js';
import { deleteSessionRoutes, type SessionDeletions } from './sessions/delete-routes.js';
import { sessionRoutes } from './sessions/session-routes.js';
import { spanRoutes } from './spans/span-routes.js';
import { BASE, TAG } from './tag.js';
import { versionRoute } from './version-route.js';

export interface PhoenixServices {
  readonly datasets: DatasetService;
  readonly experiments: ExperimentService;
  readonly resultIntake: ResultIntake;
  readonly missingResults: MissingResults;
  readonly scores: ScoreService;
  readonly lists: Lists;
  readonly prompts: PhoenixPrompts;
  readonly deletions: SessionDeletions;
  readonly exportTraces: ExportTraces;
}

/** The calls of Phoenix's clients, unchanged: each translates to those of features. */
export function phoenixRoutes(services: PhoenixServices, links: LinkParts) {
  const { datasets, scores, lists, prompts, deletions, exportTraces } = services;
  return [
    versionRoute(),
    ...annotationRoutes(scores),
    ...readAnnotationsRoutes(scores),
    uploadRoute(datasets),
    ...datasetRoutes(datasets),
    exampleRoute(datasets),
    ...experimentRoutes(services),
    ...runRoutes(services),
    jsonRoute(services),
    ...incompleteRoutes(services),
    evaluationRoute(scores),
    ...spanRoutes(lists),
    ...sessionRoutes(lists),
    ...deleteSessionRoutes(deletions),
    ...promptRoutes(prompts),
    ...linkRoutes(links),
    postOtlpTracesRoute(exportTraces, {
      path: `${BASE}/v1/traces`,
      operationId: 'postPhoenixOtlpTraces',
      tag: TAG,
    }),
  ];
}
