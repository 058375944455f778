import type { AuditLog } from '../../engine/identity/audit.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { milliseconds } from './milliseconds.js';
import { Refusals } from './refusals.js';
import type { ReviewObserver } from '../../features/review/pages/admission.js';
import type { SignInObserver, SignInResult } from '../../features/sign-in/http/attempts.js';
import type { RequestObserver, RpcObserver } from '../../engine/signals/tracing.js';

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
