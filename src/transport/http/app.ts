import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import { DomainError, type Issue } from '../../domain/errors.js';
import type { Principal } from '../../domain/identity/identity.js';
import { requirePurpose } from '../../domain/identity/key-access.js';
import { UnknownNames } from '../../domain/validation/unknown-names.js';
import type { RequestObserver } from '../../observability/events/requests.js';
import type { BodyBytes, BodyMemory } from '../body-memory.js';
import { clientAddress, networkOf } from '../client-address.js';
import type { Turns } from '../../domain/turns.js';
import { createBodyReader, type BodyLimits, type BodyReader } from './body.js';
import type { DeliveryLimits } from './delivery.js';
import { Exchange, type RequestLogger } from './exchange.js';
import { bySpecificity, isProjectId, pathMeantBy, routerPath, templatePath, type PathMeant } from './path.js';
import {
  parseNothing,
  pathParametersOf,
  searchOf,
  unknownParameterIssues,
  unknownParameters,
  type PathValues,
} from './query.js';
import type { Access, HandlerResult, RequestContext, Route } from './route.js';
import { namesHeader, UNKNOWN_FIELDS } from './names-header.js';

/** The part of the identity service that HTTP needs. */
export interface RequestIdentity {
  /**
   * For whom a request acts.
   * @param options `anyProject`: a person who signed in to several projects need not say which
   * @throws DomainError `unauthenticated`, `forbidden`
   */
  authenticate(headers: IncomingHttpHeaders, options?: { readonly anyProject?: boolean }): Principal;
  /** Throws DomainError `forbidden`. */
  requireProject(principal: Principal, projectId: string): void;
  /** Throws DomainError `unauthenticated` when the principal's project was deleted since. */
  requireStanding(principal: Principal): void;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly identity: RequestIdentity;
  readonly limits: BodyLimits;
  readonly memory: BodyMemory;
  /** How many proxies in front add to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  readonly delivery: DeliveryLimits;
  /** Turns of projects at routes whose answers may be large. */
  readonly answers: Turns;
  readonly log: RequestLogger;
  readonly observer: RequestObserver;
}

/** A request that the router has taken apart. */
type RoutedRequest = IncomingMessage & { readonly params?: PathValues };
type Handler = (exchange: Exchange, request: RoutedRequest) => Promise<void> | void;
type Exchanges = WeakMap<ServerResponse, Exchange>;

/**
 * The whole HTTP interface, ready for an `http.Server`. It is Express's router without its application object, which
 * swaps the prototypes of every request and response: that alone cost as much as everything else together.
 */
export function createApp(options: AppOptions): RequestListener {
  const exchanges: Exchanges = new WeakMap();
  const meant = pathFinder(options.routes);
  const router = routerOf(options, exchanges, meant);
  const commonHeaders = securityHeaders();
  const unmatched = unmatchedHandler(options.identity, meant);
  const { delivery } = options;
  const answer = (request: IncomingMessage, response: ServerResponse, observer: RequestObserver) => {
    const exchange = new Exchange(request, response, { observer, commonHeaders, delivery });
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

/**
 * Answers are data, never pages: nothing of them may run, be framed or be kept by a cache. Pages say otherwise
 * themselves. None of this depends on the request, so helmet is asked once.
 */
function securityHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  const recorder = {
    setHeader: (name: string, value: string) => (headers[name] = value),
    removeHeader: () => undefined,
  };
  const secure = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // TLS ends at a proxy, which knows whether to insist on it.
    strictTransportSecurity: false,
  });
  secure({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw new Error('helmet failed', { cause: error });
  });
  return headers;
}

function routerOf(options: AppOptions, exchanges: Exchanges, meant: FindPath): express.Router {
  const router = express.Router({ caseSensitive: true });
  const readBody = createBodyReader(options.limits);
  const routed =
    (handler: Handler): RequestHandler =>
    async (request, response) => {
      const exchange = exchanges.get(response);
      if (exchange !== undefined) await run(handler, exchange, request as RoutedRequest);
    };
  const paths = [...new Set(options.routes.map(({ path }) => path))].sort(bySpecificity);
  for (const path of paths) {
    const routes = options.routes.filter((route) => route.path === path);
    const entry = router.route(routerPath(path));
    for (const route of routes) entry[verb(route)](routed(handlerOf(route, options, readBody, meant)));
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

/** The order of the checks is the order in which a caller learns things: who it is, what it may, what it asked, what it sent. */
function handlerOf(route: Route, options: AppOptions, readBody: BodyReader, meant: FindPath): Handler {
  const { identity, log, answers } = options;
  const template = templatePath(route.path);
  const purpose = route.purpose ?? (route.method === 'GET' ? 'read' : 'change');
  const parseParams = route.params === undefined ? () => undefined : pathParametersOf(route.params);
  const parseQuery = queryParserOf(route);
  return async (exchange, request) => {
    exchange.route = template;
    exchange.renderError = route.renderError;
    if (route.access === 'key') requireProjectId(identity, request, meant);
    const principal = admitted(route, identity, request);
    if (principal !== null) requirePurpose(principal, purpose);
    const found: Issue[] = [];
    const params = parseParams(request.params ?? {}, found);
    const unknown = new UnknownNames();
    const query = parseQuery(searchOf(request.url ?? ''), { unknown, found });
    await route.admit?.({ params, headers: request.headers, remoteAddress: remoteAddressOf(request) });
    if (route.bulk === true && principal !== null)
      exchange.whenClosed(await answers.take(principal.project_id, exchange.abortSignal()));
    const held = bytesOf(principal, request, options);
    const isAdmitted = () => {
      try {
        admitted(route, identity, request);
        return true;
      } catch {
        return false;
      }
    };
    let result: HandlerResult;
    try {
      const body = await decodedBody(route, readBody, exchange, request, { held, unknown });
      // A body takes as long as its sender likes.
      if (principal !== null && route.body !== undefined) identity.requireStanding(principal);
      result = await route.handle(contextOf(exchange, log, { principal, params, query, body, unknown, isAdmitted }));
    } finally {
      if (unknown.some) exchange.setHeader(UNKNOWN_FIELDS, namesHeader(unknown.names));
      // Before the answer is sent: a client may take its time over that.
      held.end();
    }
    await exchange.send(result);
  };
}

/** The decoded body. Its bytes are not kept: while a request waits for its commit, they would take memory beside its rows. */
async function decodedBody(
  { body }: Route,
  readBody: BodyReader,
  { response }: Exchange,
  request: RoutedRequest,
  { held, unknown }: { readonly held: BodyBytes; readonly unknown: UnknownNames },
): Promise<unknown> {
  if (body === undefined) return undefined;
  const { bytes, mediaType } = await readBody(request, response, body, held);
  return body.decode(bytes, mediaType, unknown);
}

interface SoFar {
  readonly unknown: UnknownNames;
  /** Broken rules of the request that do not concern its query. */
  readonly found: readonly Issue[];
}

/** How the route reads its query, with what becomes of parameters that it does not know. */
function queryParserOf({ access, query, body }: Route) {
  const schema = query?.schema;
  const parse = query?.parse ?? parseNothing;
  return (search: URLSearchParams, { unknown, found }: SoFar): unknown => {
    const names = access === 'public' ? [] : unknownParameters(schema, search);
    if (body?.lenient !== true) return parse(search, [...found, ...unknownParameterIssues(schema, names)]);
    for (const name of names) unknown.add(name);
    return parse(search, found);
  };
}

/** On whose account a body is read. */
function bytesOf(
  principal: Principal | null,
  request: IncomingMessage,
  { memory, trustedProxies }: Pick<AppOptions, 'memory' | 'trustedProxies'>,
): BodyBytes {
  if (principal !== null) return memory.ofProject(principal.project_id);
  return memory.ofNetwork(networkOf(clientAddress(request.headers, remoteAddressOf(request), trustedProxies)));
}

/** Says which path was meant by one such as `/projects/judges`, which takes `judges` for a project. */
function requireProjectId(identity: RequestIdentity, request: RoutedRequest, meant: FindPath): void {
  const projectId = request.params?.['project_id'];
  if (typeof projectId !== 'string' || isProjectId(projectId)) return;
  identity.authenticate(request.headers, { anyProject: true });
  const found = meant(request);
  if (found !== undefined) throw nothingAt(found);
}

function admitted(
  { access, anyProject = false }: Pick<Route, 'access' | 'anyProject'>,
  identity: RequestIdentity,
  request: RoutedRequest,
): Principal | null {
  if (access === 'public') return null;
  const principal = identity.authenticate(request.headers, anyProject ? { anyProject } : undefined);
  const projectId = request.params?.['project_id'];
  if (typeof projectId === 'string') identity.requireProject(principal, projectId);
  return principal;
}

type Decoded = Pick<
  RequestContext<unknown, unknown, unknown, Access>,
  'principal' | 'params' | 'query' | 'body' | 'unknown' | 'isAdmitted'
>;

/** Signal and logger are made when asked for: most requests need neither. */
function contextOf(
  exchange: Exchange,
  log: RequestLogger,
  decoded: Decoded,
): RequestContext<unknown, unknown, unknown, Access> {
  let requestLog: RequestContext<unknown, unknown, unknown>['log'] | undefined;
  return {
    ...decoded,
    headers: exchange.request.headers,
    requestId: exchange.requestId,
    remoteAddress: remoteAddressOf(exchange.request),
    get signal() {
      return exchange.abortSignal();
    },
    get log() {
      return (requestLog ??= log.child({ request_id: exchange.requestId }));
    },
  };
}

function remoteAddressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? '';
}

function otherMethod(routes: readonly Route[], identity: RequestIdentity, meant: FindPath): Handler {
  const methods = routes.map(({ method }) => method as string);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  const access = routes.some((route) => route.access === 'public') ? 'public' : 'key';
  const [first] = routes;
  return (exchange, request) => {
    exchange.route = first === undefined ? 'unmatched' : templatePath(first.path);
    exchange.renderError = first?.renderError;
    if (access === 'key') requireProjectId(identity, request, meant);
    admitted({ access, anyProject: true }, identity, request);
    exchange.setHeader('Allow', allow);
    throw new DomainError('method_not_allowed', `This path takes ${allow}`);
  };
}

/** A caller without a key learns nothing of which paths exist. */
function unmatchedHandler(identity: RequestIdentity, meant: FindPath): Handler {
  return (_exchange, request) => {
    identity.authenticate(request.headers, { anyProject: true });
    throw nothingAt(meant(request));
  };
}

/** Finds what was meant by a request at whose path nothing is; undefined: nothing that is known. */
type FindPath = (request: IncomingMessage) => PathMeant | undefined;

function pathFinder(routes: readonly Route[]): FindPath {
  const templates = routes
    .filter(({ access }) => access === 'key')
    .map(({ path }) => path)
    .sort(bySpecificity)
    .map(templatePath);
  return ({ url = '' }) => pathMeantBy(templates, url.split('?')[0] ?? '');
}

function nothingAt(meant: PathMeant | undefined): DomainError {
  if (meant?.lacksProject !== true) {
    const hint = meant === undefined ? '' : ` did you mean ${meant.path}?`;
    return new DomainError('not_found', `There is nothing at this path;${hint} GET /docs lists all paths`);
  }
  const detail = `The path lacks its project: it is ${meant.path}, with the id of the project that the first start printed`;
  return new DomainError('not_found', `${detail} (SPANHOUSE_PROJECT)`);
}
