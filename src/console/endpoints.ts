import type { apiKeyRoutes } from '../features/api-keys/http/routes.js';
import type { attachmentRoutes } from '../features/images/http/routes.js';
import type { auditRoutes } from '../features/audit/http/routes.js';
import type { budgetRoutes } from '../features/budget/http/routes.js';
import type { calibrationRoutes } from '../features/calibration/http/routes.js';
import type { commentRoutes } from '../features/comments/http/routes.js';
import type { shareRoutes } from '../features/sharing/http/routes.js';
import type { completionRoutes } from '../features/completions/http/routes.js';
import type { dashboardRoutes } from '../features/dashboards/http/routes.js';
import type { datasetRoutes } from '../features/datasets/http/routes.js';
import type { deletionRoutes } from '../features/deletion/http/routes.js';
import type { comparisonRoutes } from '../features/comparisons/http/routes.js';
import type { experimentRoutes } from '../features/experiments/http/routes.js';
import type { experimentRunRoutes } from '../features/experiment-runs/http/routes.js';
import type { feedbackRoutes } from '../features/feedback/http/routes.js';
import type { judgeFigureRoutes } from '../features/judge-figures/http/routes.js';
import type { judgeRoutes } from '../features/judges/http/routes.js';
import type { linkRoutes } from '../features/review/http/routes.js';
import type { monitorRoutes } from '../features/monitors/http/routes.js';
import type { webhookRoutes } from '../features/webhooks/http/routes.js';
import type { maskingRoutes } from '../features/masking/http/routes.js';
import type { optimizationRoutes } from '../features/optimization/http/routes.js';
import type { peopleRoutes } from '../features/people/http/routes.js';
import type { playgroundRoutes } from '../features/playground/http/routes.js';
import type { priceRoutes } from '../features/prices/http/routes.js';
import type { projectRoutes } from '../features/projects/http/routes.js';
import type { promptRoutes } from '../features/prompts/http/routes.js';
import type { scheduledExportRoutes } from '../features/scheduled-exports/http/routes.js';
import type { savedViewRoutes } from '../features/saved-views/http/routes.js';
import type { scoreRoutes } from '../features/scores/http/routes.js';
import type { signInRoutes } from '../features/sign-in/http/routes.js';
import type { traceRoutes } from '../features/traces/http/routes.js';
import type { transferRoutes } from '../features/transfer/http/routes.js';
import type { getOwnUsageRoute } from '../features/usage/http/get-own-usage.js';

type Groups =
  | typeof apiKeyRoutes
  | typeof attachmentRoutes
  | typeof auditRoutes
  | typeof budgetRoutes
  | typeof calibrationRoutes
  | typeof commentRoutes
  | typeof completionRoutes
  | typeof dashboardRoutes
  | typeof datasetRoutes
  | typeof deletionRoutes
  | typeof experimentRoutes
  | typeof experimentRunRoutes
  | typeof comparisonRoutes
  | typeof feedbackRoutes
  | typeof judgeFigureRoutes
  | typeof judgeRoutes
  | typeof linkRoutes
  | typeof monitorRoutes
  | typeof webhookRoutes
  | typeof maskingRoutes
  | typeof optimizationRoutes
  | typeof peopleRoutes
  | typeof playgroundRoutes
  | typeof priceRoutes
  | typeof projectRoutes
  | typeof promptRoutes
  | typeof scheduledExportRoutes
  | typeof savedViewRoutes
  | typeof scoreRoutes
  | typeof shareRoutes
  | typeof signInRoutes
  | typeof traceRoutes
  | typeof transferRoutes;

type Endpoint = ReturnType<Groups>[number] | ReturnType<typeof getOwnUsageRoute>;

/** The routes by method and path, such as `GET /spans`, with what clients send and get as types. */
export type Endpoints = { readonly [E in Endpoint as `${E['method']} ${E['path']}`]: E };
