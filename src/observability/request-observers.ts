import type { Tracing } from './tracing.js';

export interface RequestObserver {
  requestFinished(request: {
    /** The route's template, such as `/spans/{span_id}`; `unmatched` when there is none. */
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
    readonly requestId: string;
    /** Why it was refused or failed, as its client was told. */
    readonly reason?: string;
    /** The trace by which the server traced the request, if it did. */
    readonly traceId?: string;
  }): void;
  /** The answer began, and goes on for as long as its client likes. */
  answerGoesOn?(answer: { readonly route: string; readonly status: number }): void;
  /** A defect: answered 500, logged in full. */
  requestFailed(failure: { readonly requestId: string; readonly error: unknown }): void;
  /** A client took its answer too slowly. */
  answerCutOff(answer: { readonly requestId: string }): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

export interface RpcObserver {
  rpcFinished(call: {
    /** `/package.Service/Method` */
    readonly method: string;
    /** The name of a gRPC status, such as `OK`. */
    readonly code: string;
    readonly seconds: number;
    /** Why it is to be sent again later, as its client was told. */
    readonly refusedFor?: string;
  }): void;
  /** A defect: answered INTERNAL, logged in full. */
  rpcFailed(failure: { readonly method: string; readonly error: unknown }): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}
