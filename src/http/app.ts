import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type RequestHandler } from 'express';
import { DomainError } from '../engine/errors.js';
import type { RequestObserver } from '../engine/signals/tracing.js';
import {
  admitted,
  nothingAt,
  pathFinder,
  requireProjectId,
  type FindPath,
  type RequestIdentity,
  type RoutedRequest,
} from './admission.js';
import { createBodyReader, type BodyLimits } from './body.js';
import type { DeliveryLimits } from './delivery.js';
import { Exchange } from './exchange.js';
import { handlerOf, originAddress, type Handler, type HandlerParts } from './handler.js';
import { mostSpecificFirst, routerPath, templatePath } from './path.js';
import type { Route } from './route.js';
import { securityHeaders } from './security-headers.js';

export interface AppOptions extends Omit<HandlerParts, 'readBody' | 'meant'> {
  readonly routes: readonly Route[];
  readonly limits: BodyLimits;
  readonly delivery: DeliveryLimits;
  readonly observer: RequestObserver;
  /** As for {@link securityHeaders}. */
  readonly hstsSeconds?: number;
}

type Exchanges = WeakMap<ServerResponse, Exchange>;

/**
 * The whole HTTP interface, ready for an `http.Server`. It is Express's router without its application object, which
 * swaps the prototypes of every request and response: that alone cost as much as everything else together.
 */
export function createApp(options: AppOptions): RequestListener {
  const exchanges: Exchanges = new WeakMap();
  const meant = pathFinder(options.routes);
  const router = routerOf(options, exchanges, meant);
  const commonHeaders = securityHeaders(options.hstsSeconds);
  const unmatched = unmatchedHandler(options.identity, meant);
  const { delivery, trustedProxies } = options;
  const addressOf = (request: IncomingMessage) => originAddress(request, trustedProxies);
  const answer = (request: IncomingMessage, response: ServerResponse, observer: RequestObserver) => {
    const exchange = new Exchange(request, response, { observer, commonHeaders, delivery, addressOf });
    exchanges.set(response, exchange);
    router(request as express.Request, response as express.Response, (error?: unknown) => {
      if (error === undefined || error === null) void run(unmatched, exchange, request);
      else exchange.fail(error);
    });
  };
  return traced(answer, options.observer);
}

/** Has the observer trace requests, if it does. */
function traced(
  answer: (request: IncomingMessage, response: ServerResponse, observer: RequestObserver) => void,
  observer: RequestObserver,
): RequestListener {
  const { tracing } = observer;
  if (tracing === undefined) return (request, response) => answer(request, response, observer);
  return (request, response) => {
    const { method = 'GET', headers } = request;
    const traceparent = headers['traceparent'];
    const caller = {
      userAgent: headers['user-agent'],
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    };
    tracing.request({ method, ...caller }, observer, (following) => answer(request, response, following));
  };
}

function routerOf(options: AppOptions, exchanges: Exchanges, meant: FindPath): express.Router {
  const router = express.Router({ caseSensitive: true });
  const parts: HandlerParts = { ...options, readBody: createBodyReader(options.limits), meant };
  const routed =
    (handler: Handler): RequestHandler =>
    async (request, response) => {
      const exchange = exchanges.get(response);
      if (exchange !== undefined) await run(handler, exchange, request as RoutedRequest);
    };
  const paths = mostSpecificFirst([...new Set(options.routes.map(({ path }) => path))]);
  for (const path of paths) {
    const routes = options.routes.filter((route) => route.path === path);
    const entry = router.route(routerPath(path));
    for (const route of routes) entry[verb(route)](routed(handlerOf(route, parts)));
    entry.all(routed(otherMethod(routes, options.identity, meant)));
  }
  return router;
}

function verb(route: Route) {
  return route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
}

async function run(handler: Handler, exchange: Exchange, request: RoutedRequest): Promise<void> {
  try {
    await handler(exchange, request);
  } catch (error) {
    exchange.fail(error);
  }
}

function otherMethod(routes: readonly Route[], identity: RequestIdentity, meant: FindPath): Handler {
  const methods = routes.map(({ method }) => method as string);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  const access = routes.some((route) => route.access === 'public') ? 'public' : 'key';
  const [first] = routes;
  return (exchange, request) => {
    exchange.route = first === undefined ? 'unmatched' : templatePath(first.path);
    exchange.renderError = first?.renderError;
    requireProjectId({ access }, identity, request, meant);
    admitted({ access, anyProject: true }, identity, request);
    exchange.setHeader('Allow', allow);
    throw new DomainError('method_not_allowed', `This path supports ${allow}`);
  };
}

/** A caller without a key learns nothing of which paths exist. */
function unmatchedHandler(identity: RequestIdentity, meant: FindPath): Handler {
  return (_exchange, request) => {
    identity.authenticate(request.headers, { anyProject: true });
    throw nothingAt(meant(request));
  };
}
