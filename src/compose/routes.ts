import { configurationTable } from '../config/documentation.js';
import { monitoringTables } from '../observability/documentation.js';
import { mappingTables } from '../transport/otlp/genai/documentation.js';
import { reviewTextLimits } from '../domain/review/schema.js';
import { packageVersion } from '../storage/schema-files.js';
import { buildOpenApi } from '../transport/http/openapi.js';
import type { Route } from '../transport/http/route.js';
import { apiKeyRoutes } from '../transport/http/routes/api-keys/routes.js';
import { basePath } from '../transport/http/base-path.js';
import { attachmentRoutes } from '../transport/http/routes/attachments/routes.js';
import { calibrationRoutes } from '../transport/http/routes/calibration/routes.js';
import { feedbackRoutes } from '../transport/http/routes/feedback/routes.js';
import { completionRoutes } from '../transport/http/routes/completions/routes.js';
import { judgeFigureRoutes } from '../transport/http/routes/judge-figures/routes.js';
import { judgeRoutes } from '../transport/http/routes/judges/routes.js';
import { linkRoutes } from '../transport/http/routes/links/routes.js';
import { docsRoutes } from '../transport/http/routes/operations/docs.js';
import { healthRoute } from '../transport/http/routes/operations/health.js';
import { metricsRoute } from '../transport/http/routes/operations/metrics.js';
import { openApiRoute } from '../transport/http/routes/operations/openapi-document.js';
import { readinessRoute } from '../transport/http/routes/operations/readiness.js';
import { rootRoute } from '../transport/http/routes/operations/root.js';
import { optimizationRoutes } from '../transport/http/routes/optimizations/routes.js';
import { postOtlpTracesRoute } from '../transport/http/routes/otlp/post-otlp-traces.js';
import { playgroundRoutes } from '../transport/http/routes/playground/index.js';
import { priceRoutes } from '../transport/http/routes/prices/routes.js';
import { projectRoutes } from '../transport/http/routes/projects/routes.js';
import { promptRoutes } from '../transport/http/routes/prompts/routes.js';
import { transferRoutes } from '../transport/http/routes/transfer/routes.js';
import { traceRoutes } from '../transport/http/routes/traces/index.js';
import { getOwnUsageRoute } from '../transport/http/routes/usage/get-own-usage.js';
import { consoleRoutes } from '../ui/console/index.js';
import { reviewRoutes } from '../ui/review/index.js';
import type { Context } from './context.js';
import type { Services } from './services.js';
import { doorRoutes, type Door } from './sign-in.js';

/** Everything that is answered over HTTP. */
export function createRoutes(context: Context, services: Services, door: Door): Route[] {
  const info = {
    title: 'Spanhouse',
    version: packageVersion(),
    description: 'LLM traces, prompts and feedback on ClickHouse.',
    settings: configurationTable(),
    mapping: mappingTables(),
    monitoring: monitoringTables(context.metrics),
  };
  const routes = [
    ...apiRoutes(services),
    ...reviewPages(context, services),
    ...doorRoutes(context, services, door, info.version),
    ...consoleRoutes({ baseUrl: context.baseUrl, imageOrigin: null }),
    ...apiKeyRoutes(services.identity),
    ...projectRoutes(services),
    ...transferRoutes(services.transfer),
    ...operationRoutes(context, services),
    rootRoute({ ...info, baseUrl: context.baseUrl }),
  ];
  // The document describes itself, too.
  const document: Route = openApiRoute(() =>
    buildOpenApi([...routes, document], { ...info, base: basePath(context.baseUrl()) }),
  );
  return [...routes, document];
}

function apiRoutes(services: Services): Route[] {
  const { attachments, exportTraces, prompts, prices, reprices, calibration, optimizations } = services;
  return [
    ...traceRoutes(services),
    ...attachmentRoutes(attachments),
    postOtlpTracesRoute(exportTraces),
    ...promptRoutes(prompts, services.promptFigures),
    ...completionRoutes(services.completions),
    ...priceRoutes(prices, reprices, services.unpriced),
    ...judgeRoutes(services),
    ...judgeFigureRoutes(services.judges, services.judgeFigures),
    getOwnUsageRoute(services.ownUsage),
    ...calibrationRoutes(calibration),
    ...optimizationRoutes(optimizations),
    ...playgroundRoutes(services.playground),
    ...feedbackRoutes(services),
    ...linkRoutes(services.links, services.feedbackLists),
  ];
}

function reviewPages({ config, events, baseUrl }: Context, { reviews, pageSecret }: Services): Route[] {
  const { requestsPerMinute, maxTextCharacters } = config.reviews;
  return reviewRoutes({
    reviews,
    secret: pageSecret,
    baseUrl,
    trustedProxies: config.http.trustedProxies,
    requestsPerMinute,
    textLimits: reviewTextLimits(maxTextCharacters),
    observer: events,
  });
}

function operationRoutes({ config, metrics, baseUrl }: Context, { checks }: Services): Route[] {
  const names = { baseUrl, host: config.http.host };
  return [
    healthRoute(),
    readinessRoute(checks, names),
    metricsRoute(metrics.registry, config.metricsToken, names),
    ...docsRoutes(baseUrl),
  ];
}
