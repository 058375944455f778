import type { IncomingMessage } from 'node:http';
import type { Issue } from '../engine/errors.js';
import type { Principal } from '../engine/identity/identity.js';
import { requireScopes } from '../engine/identity/scopes.js';
import type { FairSemaphore } from '../engine/work/fair-semaphore.js';
import type { Governor } from '../engine/work/governor.js';
import { UnknownNames } from '../engine/validation/unknown-names.js';
import type { BodyBytes, BodyMemory } from './wire/body-memory.js';
import { clientAddress, networkOf } from './wire/client-address.js';
import {
  admitted,
  pathValuesOf,
  requireProjectId,
  type FindPath,
  type RequestIdentity,
  type RoutedRequest,
} from './admission.js';
import type { BodyReader } from './body.js';
import type { Exchange, RequestLogger } from './exchange.js';
import { namesHeader, UNKNOWN_FIELDS } from './names-header.js';
import { templatePath } from './path.js';
import { parseNothing, pathParametersOf, searchOf, unknownParameterIssues, unknownParameters } from './query.js';
import { remoteAddressOf } from './remote-address.js';
import { scopesOfRoute } from './route-scopes.js';
import type { Access, HandlerResult, RequestContext, Route } from './route.js';

export type Handler = (exchange: Exchange, request: RoutedRequest) => Promise<void> | void;

export interface HandlerParts {
  readonly identity: RequestIdentity;
  readonly memory: BodyMemory;
  /** How many proxies in front add to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** Turns of projects at routes whose answers may be large. */
  readonly answers: FairSemaphore;
  /** Turns of projects at routes that put large answers together in memory, until these are written. */
  readonly gathered: FairSemaphore;
  readonly governor: Pick<Governor, 'duringCall'>;
  readonly log: RequestLogger;
  readonly readBody: BodyReader;
  readonly meant: FindPath;
}

/** The order of the checks is the order in which a caller learns things: who it is, what it may, what it asked, what it sent. */
export function handlerOf(route: Route, parts: HandlerParts): Handler {
  const { identity, answers, meant } = parts;
  const template = templatePath(route.path);
  const { scopes, parseParams, parseQuery } = readingOf(route);
  return async (exchange, request) => {
    exchange.route = template;
    exchange.renderError = route.renderError;
    requireProjectId(route, identity, request, meant);
    const principal = withOrigin(admitted(route, identity, request), exchange, parts);
    exchange.principal = principal;
    if (principal !== null) requireScopes(principal, scopes);
    const found: Issue[] = [];
    const params = parseParams(pathValuesOf(route, request, principal), found);
    const unknown = new UnknownNames();
    const query = parseQuery(searchOf(request.url ?? ''), { unknown, found });
    await route.admit?.({ params, headers: request.headers, remoteAddress: remoteAddressOf(request) });
    const turn = route.bulk !== undefined && principal !== null ? principal.project_id : null;
    const endTurn = turn === null ? undefined : await answers.take(turn, exchange.abortSignal());
    try {
      const result = await resultOf(route, parts, exchange, request, { principal, params, query, unknown });
      await exchange.send(result);
    } finally {
      // What is done for a client that has left counts until it has ended.
      if (endTurn !== undefined) exchange.whenClosed(endTurn);
    }
  };
}

/** A proxy may send anything for one. */
const MAX_ADDRESS = 64;

/** The principal of a request, with which request that is. */
function withOrigin(
  principal: Principal | null,
  { request, requestId }: Exchange,
  { trustedProxies }: Pick<HandlerParts, 'trustedProxies'>,
): Principal | null {
  if (principal === null) return null;
  return { ...principal, origin: { request_id: requestId, address: originAddress(request, trustedProxies) } };
}

/** Where a request comes from, as logs have it. @param trustedProxies how many proxies in front add to `X-Forwarded-For` */
export function originAddress(request: IncomingMessage, trustedProxies: number): string {
  return clientAddress(request.headers, remoteAddressOf(request), trustedProxies).slice(0, MAX_ADDRESS);
}

/** How path and query of a route are read, and what a key must be good for. */
export function readingOf(route: Route) {
  return {
    scopes: route.access === 'public' ? [] : scopesOfRoute(route),
    parseParams: route.params === undefined ? () => undefined : pathParametersOf(route.params),
    parseQuery: queryParserOf(route),
  } as const;
}

/** What a route answers to a request that has been let in. */
async function resultOf(
  route: Route,
  parts: HandlerParts,
  exchange: Exchange,
  request: RoutedRequest,
  asked: Pick<Decoded, 'principal' | 'params' | 'query' | 'unknown'>,
): Promise<HandlerResult> {
  const { identity, log, governor, readBody, gathered } = parts;
  const { principal, unknown } = asked;
  const held = bytesOf(principal, request, parts);
  const isAdmitted = () => {
    try {
      const now = admitted(route, identity, request);
      if (now !== null) requireScopes(now, scopesOfRoute(route));
      return true;
    } catch {
      return false;
    }
  };
  try {
    const body = await decodedBody(route, readBody, exchange, request, { held, unknown });
    // A body takes as long as its sender likes.
    if (principal !== null && route.body !== undefined) identity.requireStanding(principal);
    const context = contextOf(exchange, log, { ...asked, body, isAdmitted });
    // Whatever is public is asked for by monitoring, too, all the time.
    const isClients = route.access === 'key' && route.makesWay !== true;
    const handle = async () => route.handle(context);
    const inTurn =
      route.bulk === 'gathered' && principal !== null
        ? () => gathered.run(principal.project_id, handle, exchange.abortSignal())
        : handle;
    return await (isClients ? governor.duringCall(inTurn) : inTurn());
  } finally {
    if (unknown.some) exchange.setHeader(UNKNOWN_FIELDS, namesHeader(unknown.names));
    // Before the answer is sent: a client may take its time over that.
    held.end();
  }
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
  { memory, trustedProxies }: Pick<HandlerParts, 'memory' | 'trustedProxies'>,
): BodyBytes {
  if (principal !== null) return memory.ofProject(principal.project_id);
  return memory.ofNetwork(networkOf(clientAddress(request.headers, remoteAddressOf(request), trustedProxies)));
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
