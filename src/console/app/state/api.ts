import { signal } from '@preact/signals';
import type { Static, TSchema } from '@sinclair/typebox';
import type { DeepReadonly } from '../../../engine/schema/parts.js';
import type { ProblemDetails } from '../../../http/errors.js';
import type { Endpoints } from '../../endpoints.js';
import { leadsElsewhere } from '../../model/place.js';
import { base, place } from './location.js';

/** Whether the server refused the sign-in: it has ended, or there is none. */
export const signedOut = signal(false);

/** An answer of the server that is no success; status 0: it was not reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Partial<ProblemDetails>;
  readonly requestId: string | null;
  /** Seconds to wait before asking again; null: the server says none. */
  readonly retryAfter: number | null;

  constructor(status: number, problem: Partial<ProblemDetails>, headers?: Headers) {
    super(problem.detail ?? problem.title ?? 'Cannot reach the server');
    this.status = status;
    this.problem = problem;
    this.requestId = headers?.get('x-request-id') ?? null;
    const seconds = Number(headers?.get('retry-after') ?? NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : null;
  }
}

export type Parameters = URLSearchParams | Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Parameters;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The path of a call with its parameters, as curl takes it, too. */
export function pathWith(path: string, query: Parameters = {}): string {
  const search =
    query instanceof URLSearchParams
      ? query
      : new URLSearchParams(
          Object.entries(query).flatMap(([name, value]) =>
            value === null || value === undefined ? [] : [[name, String(value)]],
          ),
        );
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** Calls the API as the signed-in person, in the project that is shown. @throws ApiError */
export async function request(
  path: string,
  { method = 'GET', query, body, signal, headers }: Call = {},
): Promise<Response> {
  if (leadsElsewhere(path))
    throw new ApiError(0, {
      title: 'The browser cannot send this request',
      detail:
        'Browsers read this name as part of another URL (only dots, backslashes, line breaks). Use the API with a client that sends paths unchanged.',
    });
  const project = place.value.project;
  const init: RequestInit = {
    method,
    signal: signal ?? null,
    headers: {
      ...(project !== null && { 'Spanhouse-Project': project }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const response = await fetch(base + pathWith(path, query), init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, {
      title: 'Cannot reach the server',
      detail: 'Check that the server is running and your network works.',
    });
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<ProblemDetails>;
  if (response.status === 401) signedOut.value = true;
  throw new ApiError(response.status, problem, response.headers);
}

/** A call by its method and path as the API documents it, such as `GET /spans/:id`. */
export type Endpoint = keyof Endpoints;
type Wire<E extends Endpoint> = NonNullable<Endpoints[E]['wire']>;
/** Path parameters, except for the project, which is the one that is shown. */
type Params<E extends Endpoint> = string extends keyof Wire<E>['params']
  ? unknown
  : Omit<Wire<E>['params'], 'project_id'>;
type Body<E extends Endpoint> = DeepReadonly<Wire<E>['body']>;
/** The query parameters of an endpoint, by their names. */
export type QueryOf<E extends Endpoint> =
  URLSearchParams | { readonly [K in unknown extends Wire<E>['query'] ? string : keyof Wire<E>['query']]?: Value };
type Value = string | number | boolean | null | undefined;

type Answers<R> = {
  [S in keyof R]: S extends 200 | 201 | 202
    ? R[S] extends { readonly schema: infer Schema extends TSchema }
      ? Static<Schema>
      : undefined
    : S extends 204
      ? undefined
      : never;
}[keyof R];
/** What an endpoint answers to a call that succeeds. */
export type AnswerOf<E extends Endpoint> = Answers<Wire<E>['responses']>;

/** What an endpoint is called with: its path parameters and its body where it has them. */
export type CallOf<E extends Endpoint> = Pick<Call, 'signal' | 'headers'> & {
  readonly query?: QueryOf<E>;
} & (unknown extends Params<E> ? unknown : keyof Params<E> extends never ? unknown : { readonly params: Params<E> }) &
  (undefined extends Wire<E>['body'] ? { readonly body?: Body<E> } : { readonly body: Body<E> });

type Given<E extends Endpoint> = Pick<Call, 'signal'> extends CallOf<E> ? [given?: CallOf<E>] : [given: CallOf<E>];

interface AnyCall extends Omit<Call, 'method'> {
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The path of an endpoint with its parameters, in the project that is shown. */
export function pathOf<E extends Endpoint>(endpoint: E, ...[given]: Given<E>): string {
  const { params = {} } = (given ?? {}) as AnyCall;
  const values: Readonly<Record<string, unknown>> = { project_id: place.value.project ?? '', ...params };
  const [, path = ''] = endpoint.split(' ');
  return path.replace(/:([a-z_][a-z0-9_]*)\+?/g, (text, name: string) =>
    name in values ? encodeURIComponent(String(values[name])) : text,
  );
}

function ask<E extends Endpoint>(endpoint: E, given: Given<E>): Promise<Response> {
  const { params: _params, ...call } = (given[0] ?? {}) as AnyCall;
  const [method] = endpoint.split(' ') as [NonNullable<Call['method']>];
  return request(pathOf(endpoint, ...given), { ...call, method });
}

/** Calls an endpoint. @returns its JSON; undefined when it answers nothing. @throws ApiError */
export async function call<E extends Endpoint>(endpoint: E, ...given: Given<E>): Promise<AnswerOf<E>> {
  const response = await ask(endpoint, given);
  return (response.status === 204 ? undefined : await response.json()) as AnswerOf<E>;
}

/** A page of a list, with what its headers say. */
export interface ListPage<T> {
  readonly rows: readonly T[];
  /** Null unless the call asked for `count=true`. */
  readonly total: number | null;
  /** How many objects may lack recent writes. */
  readonly notCurrent: number;
}

type RowOf<E extends Endpoint> = AnswerOf<E> extends readonly (infer Row)[] ? Row : never;

/** Calls an endpoint that answers a page as an array. @throws ApiError */
export async function callPage<E extends Endpoint>(endpoint: E, ...given: Given<E>): Promise<ListPage<RowOf<E>>> {
  const response = await ask(endpoint, given);
  const total = response.headers.get('x-total-count');
  return {
    rows: (await response.json()) as RowOf<E>[],
    total: total === null ? null : Number(total),
    notCurrent: Number(response.headers.get('x-not-current-count') ?? 0),
  };
}

/** A path of the project that is shown, such as `/projects/…/prompts`. */
export function ofProject(path: string): string {
  return `/projects/${place.value.project ?? ''}${path}`;
}
