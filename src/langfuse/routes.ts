import type { LinkParts } from '../facade/console-link.js';
import type { DatasetService } from '../features/datasets/dataset-service.js';
import type { ProjectService } from '../features/projects/project-service.js';
import type { ExportTraces } from '../otlp/export.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import { langfuseDatasetRoutes } from './datasets/dataset-routes.js';
import { langfuseItemRoutes, type LangfuseItems } from './datasets/item-routes.js';
import { langfuseRunItemRoutes, type LangfuseRunItems } from './datasets/run-item-routes.js';
import { langfuseRunRoutes, type LangfuseRuns } from './datasets/run-routes.js';
import { ingestionRoute } from './ingestion/ingestion-route.js';
import type { IngestionParts } from './ingestion/ingestion.js';
import { linkRoutes } from './link-routes.js';
import { langfuseMediaRoutes, type LangfuseMedia } from './media-routes.js';
import { langfusePromptRoutes, type LangfusePrompts } from './prompt-routes.js';
import { langfuseObservationRoutes } from './reading/observation-routes.js';
import { langfuseScoresV3Route } from './reading/score-routes.js';
import { langfuseSessionRoutes } from './reading/session-routes.js';
import { langfuseTraceRoutes, type LangfuseReads } from './reading/trace-routes.js';
import { langfuseScoreRoutes, type LangfuseScores } from './score-routes.js';
import { startRoutes } from './start-routes.js';
import { TAG } from './tag.js';

export interface LangfuseServices
  extends
    Omit<IngestionParts, 'limits' | keyof LangfuseScores>,
    LangfuseScores,
    LangfuseMedia,
    Omit<LangfuseReads, 'scores'>,
    Omit<LangfuseItems & LangfuseRunItems & LangfuseRuns, 'datasets'> {
  readonly datasets: DatasetService;
  readonly prompts: LangfusePrompts;
  readonly projects: Pick<ProjectService, 'get'>;
  readonly exportTraces: ExportTraces;
}

export interface LangfuseOptions extends Pick<IngestionParts, 'limits'>, LinkParts {
  /** Version of the server. */
  readonly version: string;
}

/** The calls of Langfuse's clients, unchanged: each translates to those of features. */
export function langfuseRoutes(services: LangfuseServices, { version, limits, ...links }: LangfuseOptions) {
  return [
    ...startRoutes(services.projects, version),
    ingestionRoute({ ...services, limits }),
    ...langfuseMediaRoutes(services),
    ...langfuseScoreRoutes(services),
    ...langfusePromptRoutes(services.prompts),
    ...langfuseDatasetRoutes(services.datasets),
    ...langfuseItemRoutes(services),
    ...langfuseRunItemRoutes(services),
    ...langfuseRunRoutes(services),
    ...langfuseTraceRoutes(services),
    ...langfuseObservationRoutes(services),
    ...langfuseSessionRoutes(services),
    langfuseScoresV3Route(services.scores),
    ...linkRoutes(links),
    postOtlpTracesRoute(services.exportTraces, {
      path: '/api/public/otel/v1/traces',
      operationId: 'postLangfuseOtlpTraces',
      tag: TAG,
    }),
  ];
}
