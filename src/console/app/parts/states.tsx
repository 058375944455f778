import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../state/api.js';
import { againInSeconds, type Answer } from '../state/query.js';
import { Button } from './button.js';

/** Rows to come, of their true height; nothing for the first 150 ms. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} style={{ '--filled': `${40 + ((index * 37) % 50)}%` }} />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** Whether the page shows nothing else, so that this is its heading. */
  readonly isPage?: boolean;
  readonly children?: ComponentChildren;
}

/** Nothing is here: why, and what to do. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <div class="state">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
  /** Whether the page shows nothing else, so that this is its heading. */
  readonly isPage?: boolean;
}

/** What went wrong, with what helps to find out why. */
export function Failure({ error, retry, isPage = false }: FailureProps) {
  const Heading = isPage ? 'h1' : 'h2';
  const known = error instanceof ApiError ? error : null;
  const wait = useCountdown(againInSeconds(error), error);
  return (
    <div class="state bad-state" role="alert">
      <Heading>{known?.problem.title ?? 'This part of the page failed to load'}</Heading>
      <p>{known?.message ?? String(error)}</p>
      {known?.problem.errors
        // One alone is said in the sentence above.
        ?.filter(({ detail }) => !known.message.includes(detail))
        .map(({ pointer, detail }) => (
          <p key={pointer + detail}>
            <code>{pointer}</code> {detail}
          </p>
        ))}
      {known?.requestId != null && <p class="soft small">Request ID {known.requestId}</p>}
      {retry !== undefined && (
        <Button icon="refresh" onClick={retry}>
          {wait > 0 ? `Retry (automatic in ${wait} s)` : 'Retry'}
        </Button>
      )}
    </div>
  );
}

/**
 * What a query answers, or the state it is in: a skeleton while nothing is there, the failure with what was there before, and
 * what is there while it is asked again.
 */
export function Answered<T>({
  answer,
  rows,
  isPage = false,
  children,
}: {
  readonly answer: Answer<T>;
  readonly rows?: number;
  /** Whether it is all of the page, heading included. */
  readonly isPage?: boolean;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, error, isFetching } = answer;
  return (
    <div aria-busy={isFetching}>
      {error !== null && (
        <Failure error={error} retry={() => void answer.refetch()} isPage={isPage && data === undefined} />
      )}
      {data === undefined ? error === null && <Skeleton {...(rows !== undefined && { rows })} /> : children(data)}
    </div>
  );
}

function useCountdown(seconds: number | null, of: unknown): number {
  const [left, setLeft] = useState(seconds ?? 0);
  useEffect(() => {
    setLeft(seconds ?? 0);
    if (seconds === null) return;
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1000);
    return () => clearInterval(timer);
  }, [of]);
  return left;
}
