import type { apiKeyRoutes } from './api-keys/routes.js';
import type { attachmentRoutes } from './attachments/routes.js';
import type { calibrationRoutes } from './calibration/routes.js';
import type { completionRoutes } from './completions/routes.js';
import type { feedbackRoutes } from './feedback/routes.js';
import type { judgeFigureRoutes } from './judge-figures/routes.js';
import type { judgeRoutes } from './judges/routes.js';
import type { linkRoutes } from './links/routes.js';
import type { optimizationRoutes } from './optimizations/routes.js';
import type { playgroundRoutes } from './playground/index.js';
import type { priceRoutes } from './prices/routes.js';
import type { projectRoutes } from './projects/routes.js';
import type { promptRoutes } from './prompts/routes.js';
import type { signInRoutes } from './sign-in/routes.js';
import type { traceRoutes } from './traces/index.js';
import type { transferRoutes } from './transfer/routes.js';
import type { getOwnUsageRoute } from './usage/get-own-usage.js';

type Groups =
  | typeof apiKeyRoutes
  | typeof attachmentRoutes
  | typeof calibrationRoutes
  | typeof completionRoutes
  | typeof feedbackRoutes
  | typeof judgeFigureRoutes
  | typeof judgeRoutes
  | typeof linkRoutes
  | typeof optimizationRoutes
  | typeof playgroundRoutes
  | typeof priceRoutes
  | typeof projectRoutes
  | typeof promptRoutes
  | typeof signInRoutes
  | typeof traceRoutes
  | typeof transferRoutes;

type Endpoint = ReturnType<Groups>[number] | ReturnType<typeof getOwnUsageRoute>;

/** The routes by method and path, such as `GET /spans`, with what clients send and get as types. */
export type Endpoints = { readonly [E in Endpoint as `${E['method']} ${E['path']}`]: E };
