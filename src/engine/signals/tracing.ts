import type { FinishedRequest } from './catalog/requests.js';

/**
 * Traces by OpenTelemetry of what the server does. Signals carry it to where the work is done; where it is absent,
 * nothing is traced, and nothing of OpenTelemetry is loaded. Names and attributes of spans are said in `own-traces`, and
 * hold nothing that a client wrote.
 */
export interface Tracing {
  /**
   * Answers a request within a span, which ends with `requestFinished` of the observer that `answer` is given.
   * @param observer hears of it as well
   */
  request(
    request: CallerHeaders & { readonly method: string },
    observer: RequestObserver,
    answer: (observer: RequestObserver) => void,
  ): void;
  /** Answers a gRPC call within a span. @param codeOf the name of the status that a failure is answered with */
  call<T>(
    call: CallerHeaders & { readonly path: string },
    codeOf: (error: unknown) => string,
    work: () => Promise<T>,
  ): Promise<T>;
  /**
   * Begins the span of a statement to ClickHouse, when what sends it is traced.
   * @param describe called only then
   * @returns what ends it; undefined: not traced
   */
  statement(describe: () => TracedStatement): ((failure?: StatementFailure) => void) | undefined;
  /** Where the caller works; undefined when it is not traced. */
  here(): TracePoint | undefined;
  /**
   * Runs a group commit within the trace of each request that it stores.
   * @param requests where each of them was made
   */
  commit<T>(
    requests: readonly (TracePoint | undefined)[],
    size: { readonly rows: number; readonly bytes: number },
    work: () => Promise<T>,
  ): Promise<T>;
  /** Stores acknowledged writes within the trace of a commit since the last call, when there is one. */
  store<T>(size: { readonly rows: number; readonly bytes: number }, work: () => Promise<T>): Promise<T>;
  /** Runs a rollup round within the trace of a commit since the last one, when there is one. */
  round<T>(size: { readonly traces: number; readonly sessions: number }, work: () => Promise<T>): Promise<T>;
}

/** Tracing, for who opened it. */
export interface OpenTracing extends Tracing {
  /** Sends what has ended. Resolves within a bound, whatever becomes of it. */
  flush(): Promise<void>;
  /** Sends what has ended, and nothing more. Resolves within a bound. */
  close(): Promise<void>;
}

/** A span in progress that later work can be made part of. Only who made it looks inside. */
export interface TracePoint {
  readonly traceId: string;
}

/** Headers by which a caller says what it is, and in which trace it calls. */
export interface CallerHeaders {
  readonly userAgent: string | undefined;
  readonly traceparent: string | undefined;
}

/** A statement, in words of few values. */
export interface TracedStatement {
  /** Such as `SELECT`. */
  readonly operation: string;
  readonly tables: readonly string[];
}

export interface StatementFailure {
  readonly error: unknown;
  /** ClickHouse's own code, when it was its answer. */
  readonly code: number | null;
}

/** Hears of a request; a traced one by an observer of its own, which ends its span. */
export interface RequestObserver {
  requestFinished(request: FinishedRequest): void;
  /** The answer began, and continues for as long as its client likes. */
  answerGoesOn?(answer: { readonly route: string; readonly status: number }): void;
  /** A defect: answered 500, logged in full. */
  requestFailed(failure: { readonly requestId: string; readonly error: unknown }): void;
  /** A client took its answer too slowly. */
  answerCutOff(answer: { readonly requestId: string }): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}
