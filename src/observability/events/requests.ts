import type { AuditLog } from '../../domain/identity/audit.js';
import type { OpenedSession } from '../../domain/identity/sign-in.js';
import { say } from '../lines.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';
import type { Tracing } from '../tracing.js';
import { milliseconds } from './milliseconds.js';
import { Refusals } from './refusals.js';

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

/** How a request to the page of a feedback link ended. */
export type ReviewResult = 'shown' | 'saved' | 'invalid' | 'not_found' | 'forbidden' | 'limited' | 'failed';

export interface ReviewObserver {
  reviewRequested(request: { readonly result: ReviewResult }): void;
}

/** How an attempt to sign in ended: what was sent is no longer or never valid, it came from another site's page, or too often. */
export type SignInResult = 'signed_in' | 'unauthenticated' | 'forbidden' | 'overloaded';

export interface SignInObserver {
  /** @param attempt its `address`: the network it came from */
  signInAttempted(attempt: { readonly result: Exclude<SignInResult, 'signed_in'>; readonly address: string }): void;
  signedIn(attempt: { readonly opened: Omit<OpenedSession, 'token'>; readonly address: string }): void;
}

const TOO_MANY = 429;
/** Of which `requestFailed` has told. */
const DEFECT = 500;

/** Requests and calls, and how they were answered. */
export interface RequestEvents extends RequestObserver, RpcObserver, ReviewObserver, SignInObserver {
  /** No request comes any more: what is told of several is told now. */
  requestsEnded(): void;
}

export function requestEvents(logger: Logger, metrics: Metrics, audit: AuditLog): RequestEvents {
  const refusals = new Refusals({
    refused: (fields, said) => say(logger, 'requestRefused', fields, said),
    ended: ({ seconds, ...rest }) => say(logger, 'refusalsEnded', { ...rest, ms: milliseconds(seconds) }),
  });
  return {
    ...httpEvents(logger, metrics, refusals),
    ...rpcEvents(logger, metrics, refusals),
    ...reviewEvents(metrics),
    ...signInEvents(logger, metrics, audit),
    requestsEnded: () => refusals.close(),
  };
}

function httpEvents(logger: Logger, metrics: Metrics, refusals: Refusals): RequestObserver {
  return {
    requestFinished({ route, method, status, seconds, requestId, reason, traceId }) {
      metrics.httpRequestDuration.observe({ method, route, status: String(status) }, seconds);
      const traced = traceId === undefined ? {} : { trace_id: traceId };
      const fields = { method, route, status, ms: milliseconds(seconds), request_id: requestId, ...traced };
      if (status === TOO_MANY || status > DEFECT) refusals.refused(reason ?? String(status), fields);
      else say(logger, 'requestAnswered', fields);
    },
    requestFailed({ requestId, error }) {
      metrics.defects.inc();
      say(logger, 'requestFailed', { request_id: requestId, error });
    },
    answerCutOff({ requestId }) {
      say(logger, 'answerCutOff', { request_id: requestId });
    },
  };
}

function rpcEvents(logger: Logger, metrics: Metrics, refusals: Refusals): RpcObserver {
  return {
    rpcFinished({ method, code, seconds, refusedFor }) {
      metrics.rpcDuration.observe({ method, code }, seconds);
      const fields = { method, code, ms: milliseconds(seconds) };
      if (refusedFor === undefined) say(logger, 'rpcAnswered', fields);
      else refusals.refused(refusedFor, fields);
    },
    rpcFailed({ method, error }) {
      metrics.defects.inc();
      say(logger, 'rpcFailed', { method, error });
    },
  };
}

function reviewEvents(metrics: Metrics): ReviewObserver {
  return {
    reviewRequested({ result }) {
      metrics.reviewRequests.inc({ result });
    },
  };
}

function signInEvents(logger: Logger, metrics: Metrics, audit: AuditLog): SignInObserver {
  return {
    signInAttempted({ result, address }) {
      metrics.signIns.inc({ result });
      // Too often is told as any request that is refused: once for all.
      if (result !== 'overloaded') say(logger, 'signInRefused', { result, address });
    },
    signedIn({ opened, address }) {
      metrics.signIns.inc({ result: 'signed_in' satisfies SignInResult });
      const { project_id, projects, with: by, ...actor } = opened;
      audit.done({ event: 'signedIn', by: actor, project_id, projects, with: by, address });
    },
  };
}
