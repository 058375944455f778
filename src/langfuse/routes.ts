import type { ProjectService } from '../features/projects/project-service.js';
import type { ExportTraces } from '../otlp/export.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import { startRoutes } from './start-routes.js';
import { TAG } from './tag.js';

export interface LangfuseServices {
  readonly projects: Pick<ProjectService, 'get'>;
  readonly exportTraces: ExportTraces;
}

/** The calls of Langfuse's clients, unchanged: each translates to those of features. @param version of the server */
export function langfuseRoutes(services: LangfuseServices, version: string) {
  return [
    ...startRoutes(services.projects, version),
    postOtlpTracesRoute(services.exportTraces, {
      path: '/api/public/otel/v1/traces',
      operationId: 'postLangfuseOtlpTraces',
      tag: TAG,
    }),
  ];
}
