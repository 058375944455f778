import type { Lists } from '../engine/traces/model/list/lists.js';
import type { DatasetService } from '../features/datasets/dataset-service.js';
import type { ExperimentService } from '../features/experiments/experiment-service.js';
import type { ScorerService } from '../features/experiments/scorer-service.js';
import type { RowFiles } from '../features/images/row-files.js';
import type { ScoreService } from '../features/scores/score-service.js';
import type { PartialIngest } from '../features/traces/partial-ingest.js';
import type { ExportTraces } from '../otlp/export.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import type { MappingLimits } from '../otlp/span.js';
import { datasetRoutes } from './datasets/dataset-routes.js';
import { exampleRoutes } from './datasets/example-routes.js';
import { feedbackRoutes } from './feedback/feedback-routes.js';
import { infoRoute } from './info-route.js';
import { linkRoutes } from './link-routes.js';
import { projectRoutes } from './projects/project-routes.js';
import { TracingProjects } from './projects/tracing-projects.js';
import { runReadRoutes } from './reads/run-read-routes.js';
import { Repetitions } from './runs/repetitions.js';
import { runRoutes } from './runs/run-routes.js';
import { BASE, TAG } from './tag.js';

export interface LangsmithServices {
  readonly partial: Pick<PartialIngest, 'store'>;
  readonly lists: Lists;
  readonly scores: Pick<ScoreService, 'post' | 'list' | 'get' | 'remove'>;
  readonly scorers: Pick<ScorerService, 'keep'>;
  readonly datasets: DatasetService;
  readonly rowFiles: RowFiles;
  readonly experiments: ExperimentService;
  readonly exportTraces: ExportTraces;
}

export interface LangsmithOptions {
  /** Version of the server. */
  readonly version: string;
  readonly limits: MappingLimits;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
}

/** The calls of LangSmith's clients, unchanged: each translates to those of features. */
export function langsmithRoutes(services: LangsmithServices, { version, limits, baseUrl }: LangsmithOptions) {
  const { lists, experiments, datasets } = services;
  const tracing = new TracingProjects(lists);
  return [
    infoRoute(version),
    ...runRoutes({ ...services, repetitions: new Repetitions(experiments), limits }),
    ...runReadRoutes({ ...services, tracing }),
    ...feedbackRoutes(services),
    ...datasetRoutes(datasets),
    ...exampleRoutes(datasets, services.rowFiles),
    ...projectRoutes({ experiments, tracing, lists }),
    ...linkRoutes(baseUrl),
    postOtlpTracesRoute(services.exportTraces, {
      path: `${BASE}/otel/v1/traces`,
      operationId: 'postLangsmithOtlpTraces',
      tag: TAG,
    }),
  ];
}
