import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { DomainError } from '../../domain/errors.js';
import type { Principal } from '../../domain/identity/identity.js';
import { createBodyReader, type BodyLimits, type BodyReader } from './body.js';
import { Exchange, type RequestLogger, type RequestObserver } from './exchange.js';
import { bySpecificity, routerPath, templatePath } from './path.js';
import { pathParametersOf, searchOf } from './query.js';
import type { Access, RequestContext, Route } from './route.js';

/** What the transport needs to know about callers. */
export interface RequestIdentity {
  /** Throws DomainError `unauthenticated`. */
  authenticate(authorization: string | undefined): Principal;
  /** Throws DomainError `forbidden`. */
  requireProject(principal: Principal, projectId: string): void;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly identity: RequestIdentity;
  readonly limits: BodyLimits;
  readonly log: RequestLogger;
  readonly observer: RequestObserver;
}

type Handler = (exchange: Exchange, request: express.Request) => Promise<void> | void;

/** The whole HTTP interface, ready for an `http.Server`. */
export function createApp(options: AppOptions): express.Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.use(begin(options.observer), securityHeaders(), routerOf(options), unmatched(options.identity), answerError);
  return app;
}

function begin(observer: RequestObserver): RequestHandler {
  return (request, response, next) => {
    response.locals['exchange'] = new Exchange(request, response, observer);
    next();
  };
}

function exchangeOf(response: Response): Exchange {
  return response.locals['exchange'] as Exchange;
}

/** Answers are data, never pages: nothing of them may run, be framed or be kept by a cache. Pages say otherwise themselves. */
function securityHeaders(): RequestHandler {
  const secure = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // TLS ends at a proxy, which knows whether to insist on it.
    strictTransportSecurity: false,
  });
  return (request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    secure(request, response, next);
  };
}

function routerOf(options: AppOptions): express.Router {
  const router = express.Router({ caseSensitive: true });
  const readBody = createBodyReader(options.limits);
  const paths = [...new Set(options.routes.map(({ path }) => path))].sort(bySpecificity);
  for (const path of paths) {
    const routes = options.routes.filter((route) => route.path === path);
    const entry = router.route(routerPath(path));
    for (const route of routes) entry[verb(route)](handled(handlerOf(route, options, readBody)));
    entry.all(handled(otherMethod(routes, options.identity)));
  }
  return router;
}

function verb(route: Route) {
  return route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
}

function handled(handler: Handler): RequestHandler {
  return async (request, response) => {
    const exchange = exchangeOf(response);
    try {
      await handler(exchange, request);
    } catch (error) {
      exchange.fail(error);
    }
  };
}

/** The order of the checks is the order in which a caller learns things: who it is, what it may, what it asked, what it sent. */
function handlerOf(route: Route, { identity, log }: AppOptions, readBody: BodyReader): Handler {
  const template = templatePath(route.path);
  const parseParams = route.params === undefined ? () => undefined : pathParametersOf(route.params);
  return async (exchange, request) => {
    exchange.route = template;
    exchange.renderError = route.renderError;
    const principal = admitted(route.access, identity, request);
    const params = parseParams(request.params as Record<string, string>);
    const query = route.query?.parse(searchOf(request.url));
    const body =
      route.body === undefined ? undefined : await readBody(request, exchange.response, route.body.contentTypes);
    try {
      const decoded = body === undefined ? undefined : route.body?.decode(body.bytes, body.mediaType);
      await exchange.send(await route.handle(contextOf(exchange, log, { principal, params, query, body: decoded })));
    } finally {
      body?.release();
    }
  };
}

function admitted(access: Access, identity: RequestIdentity, request: express.Request): Principal | null {
  if (access === 'public') return null;
  const principal = identity.authenticate(request.headers.authorization);
  const projectId = request.params['project_id'];
  if (typeof projectId === 'string') identity.requireProject(principal, projectId);
  return principal;
}

type Decoded = Pick<RequestContext<unknown, unknown, unknown, Access>, 'principal' | 'params' | 'query' | 'body'>;

/** Signal and logger are made when asked for: most requests need neither. */
function contextOf(
  exchange: Exchange,
  log: RequestLogger,
  decoded: Decoded,
): RequestContext<unknown, unknown, unknown, Access> {
  let signal: AbortSignal | undefined;
  let requestLog: RequestContext<unknown, unknown, unknown>['log'] | undefined;
  return {
    ...decoded,
    headers: exchange.request.headers,
    requestId: exchange.requestId,
    get signal() {
      return (signal ??= exchange.abortSignal());
    },
    get log() {
      return (requestLog ??= log.child({ request_id: exchange.requestId }));
    },
  };
}

function otherMethod(routes: readonly Route[], identity: RequestIdentity): Handler {
  const methods = routes.map(({ method }) => method as string);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  const access = routes.some((route) => route.access === 'public') ? 'public' : 'key';
  const [first] = routes;
  return (exchange, request) => {
    exchange.route = first === undefined ? 'unmatched' : templatePath(first.path);
    exchange.renderError = first?.renderError;
    admitted(access, identity, request);
    exchange.response.setHeader('Allow', allow);
    throw new DomainError('method_not_allowed', `This path takes ${allow}`);
  };
}

/** A caller without a key learns nothing of which paths exist. */
function unmatched(identity: RequestIdentity): RequestHandler {
  return handled((_exchange, request) => {
    identity.authenticate(request.headers.authorization);
    throw new DomainError('not_found', 'There is nothing at this path; GET /docs lists what there is');
  });
}

/** Errors that Express itself raises, before a route has the request. Express knows it by its four parameters. */
const answerError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  exchangeOf(response as Response).fail(error);
};
