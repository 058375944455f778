import type { IncomingHttpHeaders } from 'node:http';
import { configurationTable } from '../config/documentation.js';
import { monitoringTables } from '../engine/signals/documentation.js';
import { LINES } from '../engine/signals/signals.js';
import { auditTable } from '../features/audit/documentation.js';
import { mappingTables } from '../otlp/genai/documentation.js';
import { reviewTextLimits } from '../features/review/schema.js';
import type { SignInKey } from '../engine/identity/sign-in.js';
import { packageVersion } from '../engine/files/schema-files.js';
import { buildOpenApi } from '../http/openapi.js';
import type { Route } from '../http/route.js';
import { apiKeyRoutes } from '../features/api-keys/http/routes.js';
import { basePath } from '../http/base-path.js';
import { auditRoutes } from '../features/audit/http/routes.js';
import { attachmentRoutes } from '../features/images/http/routes.js';
import { calibrationRoutes } from '../features/calibration/http/routes.js';
import { feedbackRoutes } from '../features/feedback/http/routes.js';
import { commentRoutes } from '../features/comments/http/routes.js';
import { ReviewAccess } from '../features/review/pages/access.js';
import { shareRoutes } from '../features/sharing/http/routes.js';
import { ShareAdmission } from '../features/sharing/pages/admission.js';
import { sharedRoutes } from '../features/sharing/pages/routes.js';
import { completionRoutes } from '../features/completions/http/routes.js';
import { judgeFigureRoutes } from '../features/judge-figures/http/routes.js';
import { judgeRoutes } from '../features/judges/http/routes.js';
import { linkRoutes } from '../features/review/http/routes.js';
import { manualRoutes } from '../http/manual/pages/routes.js';
import { apiReferenceRoutes } from '../http/operations/api-reference.js';
import { healthRoute } from '../http/operations/health.js';
import { metricsRoute } from '../http/operations/metrics.js';
import { openApiRoute } from '../http/operations/openapi-document.js';
import { readinessRoute } from '../http/operations/readiness.js';
import { rootRoute } from '../http/operations/root.js';
import { optimizationRoutes } from '../features/optimization/http/routes.js';
import { postOtlpTracesRoute } from '../otlp/post-otlp-traces.js';
import { playgroundRoutes } from '../features/playground/http/routes.js';
import { priceRoutes } from '../features/prices/http/routes.js';
import { budgetRoutes } from '../features/budget/http/routes.js';
import { maskingRoutes } from '../features/masking/http/routes.js';
import { peopleRoutes } from '../features/people/http/routes.js';
import { projectRoutes } from '../features/projects/http/routes.js';
import { promptRoutes } from '../features/prompts/http/routes.js';
import { dashboardRoutes } from '../features/dashboards/http/routes.js';
import { deletionRoutes } from '../features/deletion/http/routes.js';
import { datasetRoutes } from '../features/datasets/http/routes.js';
import { comparisonRoutes } from '../features/comparisons/http/routes.js';
import { experimentRoutes } from '../features/experiments/http/routes.js';
import { experimentRunRoutes } from '../features/experiment-runs/http/routes.js';
import { organizationRoutes } from '../features/projects/http/organization-routes.js';
import { monitorRoutes } from '../features/monitors/http/routes.js';
import { webhookRoutes } from '../features/webhooks/http/routes.js';
import { scheduledExportRoutes } from '../features/scheduled-exports/http/routes.js';
import { startPath } from '../features/single-sign-on/http/routes.js';
import { savedViewRoutes } from '../features/saved-views/http/routes.js';
import { scoreRoutes } from '../features/scores/http/routes.js';
import { transferRoutes } from '../features/transfer/http/routes.js';
import { traceRoutes } from '../features/traces/http/routes.js';
import { getOwnUsageRoute } from '../features/usage/http/get-own-usage.js';
import { langfuseRoutes } from '../langfuse/routes.js';
import { phoenixRoutes } from '../phoenix/routes.js';
import { langsmithRoutes } from '../langsmith/routes.js';
import { consoleRoutes } from '../console/index.js';
import { reviewRoutes } from '../features/review/pages/index.js';
import { InnerCalls } from '../http/inner-calls.js';
import type { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { mcpRoute } from '../mcp/route.js';
import type { Context } from './context.js';
import type { Services } from './services.js';
import { attemptsPerMinute, authenticationRoutes, type Authentication } from './sign-in.js';

/** Everything that is answered over HTTP. @param answers turns of projects at routes whose answers may be large */
export function createRoutes(
  context: Context,
  services: Services,
  door: Authentication,
  answers: FairSemaphore,
): Route[] {
  const info = {
    title: 'Spanhouse',
    version: packageVersion(),
    description: 'LLM traces, prompts and feedback on ClickHouse.',
  };
  const { requestsPerMinute } = context.config.reviews;
  const access = new ReviewAccess(context.config.http.trustedProxies, requestsPerMinute);
  const sharing = new ShareAdmission(services.shares, access);
  const routes = [
    ...apiRoutes(services),
    ...sharedRoutes({ shares: services.shares, shared: services.shared, admission: sharing }),
    ...reviewPages(context, services),
    ...authenticationRoutes(context, services, door, info.version),
    ...langfuse(context, services, door, info.version),
    ...langsmithRoutes(services, { version: info.version, limits: mappingLimits(context), baseUrl: context.baseUrl }),
    ...phoenixRoutes(services, { baseUrl: context.baseUrl, projectOf: projectSeenBy(door.callers) }),
    ...consoleRoutes({
      baseUrl: context.baseUrl,
      imageOrigin: null,
      sharing,
      singleSignOn: () => startPath(services.singleSignOn, context.baseUrl()),
    }),
    ...apiKeyRoutes(services.identity),
    ...peopleRoutes(services.identity.members),
    ...projectRoutes(services, attemptsPerMinute(context)),
    ...organizationRoutes(services.projects),
    ...transferRoutes(services.transfer),
    ...operationRoutes(context, services),
    ...documentationRoutes(context, door),
    rootRoute({ ...info, baseUrl: context.baseUrl }),
  ];
  const onFailed = (failure: { requestId: string; error: unknown }) => context.events.requestFailed(failure);
  const calls = new InnerCalls({ routes, answers, onFailed });
  // The document describes itself, too.
  const document: Route = openApiRoute(() =>
    buildOpenApi([...routes, document], { ...info, base: basePath(context.baseUrl()) }),
  );
  return [...routes, document, mcpRoute({ calls, version: info.version, onFailed })];
}

/** What other systems' clients may send at once. */
function mappingLimits({ config: { ingest } }: Context) {
  return { sharedBytes: ingest.maxEncodedBytes, tagBytes: ingest.maxTagBytes };
}

function langfuse(context: Context, services: Services, { callers }: Authentication, version: string): Route[] {
  const { baseUrl } = context;
  return langfuseRoutes(services, {
    version,
    limits: mappingLimits(context),
    baseUrl,
    projectOf: projectSeenBy(callers),
  });
}

function apiRoutes(services: Services): Route[] {
  const { attachments, uploads, exportTraces, prompts, prices, reprices, calibration, optimizations } = services;
  return [
    ...traceRoutes(services),
    ...deletionRoutes(services.selectedDeletions),
    ...scheduledExportRoutes(services.schedules),
    ...monitorRoutes(services.monitors),
    ...webhookRoutes(services.webhooks),
    ...dashboardRoutes(services.dashboards),
    ...savedViewRoutes(services.savedViews),
    ...maskingRoutes(services.masking, services.maskingTest),
    ...auditRoutes(services.audit, services.exports),
    ...scoreRoutes(services.scores, services.exports),
    ...datasetRoutes(services),
    ...experimentRoutes(services),
    ...experimentRunRoutes(services.experimentRuns),
    ...comparisonRoutes(services.comparisons),
    ...attachmentRoutes(attachments, uploads),
    postOtlpTracesRoute(exportTraces),
    ...promptRoutes(prompts, services.promptFigures),
    ...completionRoutes(services.completions, services.completionLog),
    ...priceRoutes(prices, reprices, services.unpriced),
    ...judgeRoutes(services),
    ...judgeFigureRoutes(services.judges, services.judgeFigures),
    getOwnUsageRoute(services.ownUsage),
    ...budgetRoutes(services.budgets),
    ...calibrationRoutes(calibration),
    ...optimizationRoutes(optimizations),
    ...playgroundRoutes(services.playground),
    ...feedbackRoutes(services),
    ...linkRoutes(services.links, services.feedbackLists),
    ...commentRoutes(services.comments),
    ...shareRoutes(services.shares),
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
  return [healthRoute(), readinessRoute(checks, names), metricsRoute(metrics.registry, config.metricsToken, names)];
}

function documentationRoutes({ metrics, baseUrl }: Context, { callers }: Authentication): Route[] {
  const tables = {
    settings: configurationTable(),
    mapping: mappingTables(),
    monitoring: monitoringTables(metrics),
    audit: auditTable(LINES),
  };
  return [...manualRoutes({ baseUrl, tables, projectOf: projectSeenBy(callers) }), ...apiReferenceRoutes(baseUrl)];
}

function projectSeenBy(callers: Authentication['callers']) {
  return (headers: IncomingHttpHeaders) => onlyProjectOf(callers.reader(headers)?.keys ?? []);
}

/** The project that a person sees. Of several, nobody knows which one they read the manual for. */
function onlyProjectOf(keys: readonly SignInKey[]): string | null {
  const [key] = keys;
  return key !== undefined && keys.length === 1 ? key.project_id : null;
}
