import { signal } from '@preact/signals';
import type { ProblemDetails } from '../../../../transport/http/errors.js';
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
      detail: 'Check that the server is running and your network works. The data shown does not change.',
    });
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<ProblemDetails>;
  if (response.status === 401) signedOut.value = true;
  throw new ApiError(response.status, problem, response.headers);
}

/** The JSON that a call answers; undefined when it answers nothing. */
export async function call<T>(path: string, options?: Call): Promise<T> {
  const response = await request(path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** A page of a list, with what its headers say. */
export interface ListPage<T> {
  readonly rows: readonly T[];
  /** Null unless the call asked for `count=true`. */
  readonly total: number | null;
  /** How many objects may lack recent writes. */
  readonly notCurrent: number;
}

export async function callPage<T>(path: string, options?: Call): Promise<ListPage<T>> {
  const response = await request(path, options);
  const total = response.headers.get('x-total-count');
  return {
    rows: (await response.json()) as T[],
    total: total === null ? null : Number(total),
    notCurrent: Number(response.headers.get('x-not-current-count') ?? 0),
  };
}

/** A path of the project that is shown, such as `/projects/…/prompts`. */
export function ofProject(path: string): string {
  return `/projects/${place.value.project ?? ''}${path}`;
}
