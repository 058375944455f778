import type { ScoreService } from '../features/scores/score-service.js';
import type { ProjectService } from '../features/projects/project-service.js';
import type { ExportTraces } from '../otlp/export.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import { ingestionRoute } from './ingestion/ingestion-route.js';
import type { IngestionParts } from './ingestion/ingestion.js';
import { linkRoutes, type LinkParts } from './link-routes.js';
import { langfuseScoreRoutes } from './score-routes.js';
import { startRoutes } from './start-routes.js';
import { TAG } from './tag.js';

export interface LangfuseServices extends Omit<IngestionParts, 'limits'> {
  readonly scores: Pick<ScoreService, 'post' | 'list' | 'remove'>;
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
    ...langfuseScoreRoutes(services.scores),
    ...linkRoutes(links),
    postOtlpTracesRoute(services.exportTraces, {
      path: '/api/public/otel/v1/traces',
      operationId: 'postLangfuseOtlpTraces',
      tag: TAG,
    }),
  ];
}
