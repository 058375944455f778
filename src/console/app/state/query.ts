import {
  QueryClient,
  QueryObserver,
  keepPreviousData,
  onlineManager,
  type QueryFunctionContext,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/query-core';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { place } from './location.js';

/** What was asked of the server. Keys begin with the path that is called, so that a change there makes all of it be asked again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      // What failed is said at once, and asked again while it is shown: see useQuery.
      retry: false,
    },
  },
});

/** A page on loopback works without a network. */
onlineManager.setEventListener(() => undefined);

/** Whether asking again later helps: the server is overloaded, restarting or out of reach, also for a proxy before it. */
export function isPassing({ status }: ApiError): boolean {
  return [0, 429, 502, 503].includes(status);
}

/** How long a failure that passes is shown before it is asked again. */
const AGAIN_SECONDS = 3;

/** After how many seconds it is asked again by itself, which the server may say; null: that would not help. */
export function againInSeconds(error: unknown): number | null {
  return error instanceof ApiError && isPassing(error) ? Math.max(AGAIN_SECONDS, error.retryAfter ?? 0) : null;
}

/** Does again by itself what failed, where that helps. */
export function useAgain(failure: unknown, again: () => void): void {
  useEffect(() => {
    const seconds = againInSeconds(failure);
    if (seconds === null) return;
    const timer = setTimeout(again, 1000 * seconds);
    return () => clearTimeout(timer);
  }, [failure]);
}

export interface Query<T> {
  readonly key: readonly unknown[];
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** False: nothing is asked yet. */
  readonly enabled?: boolean;
  /** Milliseconds after which it is asked again while it is shown. */
  readonly every?: number | false | ((answer: T | undefined) => number | false);
  /** Milliseconds for which the answer is kept when no one shows it. Default: five minutes. */
  readonly keptMs?: number;
  /** Whether an answer to another question is shown until this one's is there. Default true. */
  readonly keep?: boolean;
}

export type Answer<T> = QueryObserverResult<T>;

/** Asks, and asks again when the key changes. The project is part of every key. */
export function useQuery<T>({ key, ask, enabled = true, every = false, keptMs, keep = true }: Query<T>): Answer<T> {
  const options = {
    queryKey: [place.value.project, ...key],
    queryFn: ({ signal }) => ask(signal),
    enabled,
    refetchInterval({ state }: { readonly state: { readonly data?: T; readonly error: unknown } }) {
      const again = againInSeconds(state.error);
      if (again !== null) return 1000 * again;
      return typeof every === 'function' ? every(state.data) : every;
    },
    ...(keptMs !== undefined && { gcTime: keptMs }),
    ...(keep && { placeholderData: keepPreviousData }),
  } as QueryObserverOptions<T>;
  const observer = useMemo(() => new QueryObserver<T>(queries, options), []);
  const [, redraw] = useState<object>();
  useEffect(() => observer.subscribe(() => redraw({})), [observer]);
  observer.setOptions(options);
  return observer.getOptimisticResult(queries.defaultQueryOptions(options));
}

/** What is known of a question, which is asked where it is not; undefined: that failed. */
export async function known<T>({ key, ask }: Pick<Query<T>, 'key' | 'ask'>): Promise<T | undefined> {
  const query = { queryKey: [place.value.project, ...key], queryFn: ({ signal }: QueryFunctionContext) => ask(signal) };
  return queries.query({ ...query, staleTime: 'static' }).catch(() => undefined);
}

/** Has everything asked again whose key begins so, after a change. */
export function changedAt(...keyStart: readonly unknown[]): Promise<void> {
  return queries.invalidateQueries({ queryKey: [place.value.project, ...keyStart] });
}
