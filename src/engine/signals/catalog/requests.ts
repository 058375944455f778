import { Denials } from '../denials.js';
import type { LogFields } from '../logger.js';
import type { Metrics } from '../metrics.js';
import { Refusals } from '../refusals.js';
import { catalogOf, measured, milliseconds, signal, type LineName, type LogEvent } from '../signal.js';

const TOO_MANY = 429;
/** Of which `requestFailed` has told. */
const DEFECT = 500;

/** A request that is answered. */
export interface FinishedRequest {
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
  /** Who got 401 or 403; absent: nobody did, or it is told of otherwise. */
  readonly denied?: Denied;
}

/** Who was not let in, or not to that. */
export interface Denied {
  readonly address: string;
  /** The network of it that counts as one client. */
  readonly network: string;
  /** What is known of the caller, by the names of the log. */
  readonly caller: Readonly<Record<string, string>>;
}

interface FinishedCall {
  /** `/package.Service/Method` */
  readonly method: string;
  /** The name of a gRPC status, such as `OK`. */
  readonly code: string;
  readonly seconds: number;
  /** Why it is to be sent again later, as its client was told. */
  readonly refusedFor?: string;
  readonly denied?: Denied & { readonly reason: string };
}

type ReviewResult = 'shown' | 'saved' | 'invalid' | 'not_found' | 'forbidden' | 'limited' | 'failed';
/** What was sent is no longer or never valid, it came from another site's page, or too often. */
type SignInFailure = 'unauthenticated' | 'forbidden' | 'overloaded';

/** Requests and calls, and how they were answered. */
export const requestCatalog = catalogOf({
  requestAnswered: {
    level: 'debug',
    message: 'HTTP request completed',
    when: 'Every request that the server did not reject, once the response is complete.',
  },
  requestRefused: {
    level: 'warn',
    message: 'Request refused',
    when: 'A request got 429, 503 or another status from 501 up, or a gRPC call UNAVAILABLE, or RESOURCE_EXHAUSTED with RetryInfo; `reason` is what the client received. The first for each reason; more are at level `debug`, until `refusalsEnded`.',
    action:
      'Fix the reason; /readyz names what does not respond. Time or memory limits: have clients request less, or raise READ_TIMEOUT_SECONDS, ENGINE_MEMORY_MB. Too many at once (429): nothing, if it ends; otherwise have clients send fewer, or see the alert SpanhouseIngestRefused',
  },
  accessDenied: {
    level: 'info',
    message: 'Access denied',
    when: 'A request got 401 or 403, or a gRPC call UNAUTHENTICATED or PERMISSION_DENIED: it had no valid key or session, or one that may not do this. `reason` is what the client received; user, key and project are there if they are known. At most ten a minute for each network of clients and 600 in all; more are at level `debug`. Sign-ins: `signInRefused`.',
  },
  refusalsEnded: {
    level: 'info',
    message: 'No more requests are refused for this reason',
    when: 'After `requestRefused`, after half a minute without one, or at server stop: how many there were (`refused`), and the time between the first and last. Not after a single one.',
  },
  requestFailed: signal<{ requestId: string; error: unknown }>({
    level: 'error',
    message: 'HTTP request failed with an internal error',
    when: 'A request got 500, or its response was interrupted: a bug in Spanhouse, with the full error.',
    action: 'Report it with this line; the client has the same request_id. Nothing in the request was acknowledged',
    log: ({ requestId, error }) => ({ request_id: requestId, error }),
    count: ({ defects }) => defects.inc(),
  }),
  answerCutOff: signal<{ requestId: string }>({
    level: 'warn',
    message: 'HTTP response aborted: the client read too slowly',
    when: 'A client read less than 16 KB per second for ten seconds.',
    action: 'Have the client request less at once (limit, fields)',
    log: ({ requestId }) => ({ request_id: requestId }),
  }),
  bodyThreadLost: signal<{ project: string; error: unknown }>({
    level: 'error',
    message: 'Request body thread ended',
    when: 'The thread exceeded its memory limit, and the request got 413; or it ended for the reason in `error`, and the request got 503. Other threads continue, and the next large body gets a new one.',
    action:
      'Have the client of the project send smaller batches, or raise MAX_BODY_MB, which sets the memory of threads. If memory is not the reason, report it with this line; INGEST_THREADS=0 disables threads',
    log: ({ project, error }) => ({ project_id: project, error }),
  }),
  rpcAnswered: {
    level: 'debug',
    message: 'gRPC call completed',
    when: 'Every gRPC call that was not temporarily rejected, when it ends.',
  },
  rpcFailed: signal<{ method: string; error: unknown }>({
    level: 'error',
    message: 'gRPC call failed with an internal error',
    when: 'A call got INTERNAL: a bug in Spanhouse, with the full error.',
    action: 'Report it with this line. Nothing in the call was acknowledged; exporters may drop its spans',
    log: ({ method, error }) => ({ method, error }),
    count: ({ defects }) => defects.inc(),
  }),
  signInRefused: {
    level: 'warn',
    message: 'Sign-in refused',
    when: 'The credentials are invalid or expired (`unauthenticated`), or came from a page of another site (`forbidden`): each at most ten times a minute for each address.',
    action:
      'Nothing for one or two: probably a typo. Many from one address may be a guessing attack: block it at the proxy',
  },
  reviewRequested: measured<{ result: ReviewResult }>(({ reviewRequests }, { result }) =>
    reviewRequests.inc({ result }),
  ),
});

/** Answers, of which only the first of a kind is logged where requests are refused; and sign-ins. */
export function deriveRequests(log: LogEvent<LineName<typeof requestCatalog>>, metrics: Metrics) {
  const refusals = new Refusals({
    refused: (fields, again) => log('requestRefused', fields, again),
    ended: ({ seconds, ...rest }) => log('refusalsEnded', { ...rest, ms: milliseconds(seconds) }),
  });
  const denials = new Denials();
  const accessDenied = ({ address, network, caller }: Denied, fields: LogFields) =>
    log('accessDenied', { ...fields, ...caller, address }, denials.isEnough(network));
  return {
    requestFinished({ route, method, status, seconds, requestId, reason, traceId, denied }: FinishedRequest): void {
      metrics.httpRequestDuration.observe({ method, route, status: String(status) }, seconds);
      const traced = traceId === undefined ? {} : { trace_id: traceId };
      const fields = { method, route, status, ms: milliseconds(seconds), request_id: requestId, ...traced };
      if (status === TOO_MANY || status > DEFECT) refusals.refused(reason ?? String(status), fields);
      else if (denied !== undefined) accessDenied(denied, { ...fields, reason });
      else log('requestAnswered', fields);
    },
    rpcFinished({ method, code, seconds, refusedFor, denied }: FinishedCall): void {
      metrics.rpcDuration.observe({ method, code }, seconds);
      const fields = { method, code, ms: milliseconds(seconds) };
      if (denied !== undefined) accessDenied(denied, { ...fields, reason: denied.reason });
      else if (refusedFor === undefined) log('rpcAnswered', fields);
      else refusals.refused(refusedFor, fields);
    },
    /** No request comes any more: what is logged of several is logged now. */
    requestsEnded: () => refusals.close(),
    /** @param attempt its `address`: the network it came from */
    signInAttempted({ result, address }: { result: SignInFailure; address: string }): void {
      metrics.signIns.inc({ result });
      // Too often is logged as any request that is refused: once for all.
      if (result !== 'overloaded') log('signInRefused', { result, address });
    },
    /** The audit log has who did. */
    signedIn(): void {
      metrics.signIns.inc({ result: 'signed_in' });
    },
  };
}
