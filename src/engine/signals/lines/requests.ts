import { defineLines } from '../line.js';

/** Requests and calls, and how they were answered. */
export const requestLines = defineLines({
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
  refusalsEnded: {
    level: 'info',
    message: 'No more requests are refused for this reason',
    when: 'After `requestRefused`, after half a minute without one, or at server stop: how many there were (`refused`), and the time between the first and last. Not after a single one.',
  },
  requestFailed: {
    level: 'error',
    message: 'HTTP request failed with an internal error',
    when: 'A request got 500, or its response was interrupted: a bug in Spanhouse, with the full error.',
    action: 'Report it with this line; the client has the same request_id. Nothing in the request was acknowledged',
  },
  answerCutOff: {
    level: 'warn',
    message: 'HTTP response aborted: the client read too slowly',
    when: 'A client read less than 16 KB per second for ten seconds.',
    action: 'Have the client request less at once (limit, fields)',
  },
  bodyThreadLost: {
    level: 'error',
    message: 'Request body thread ended',
    when: 'The thread exceeded its memory limit, and the request got 413; or it ended for the reason in `error`, and the request got 503. Other threads continue, and the next large body gets a new one.',
    action:
      'Have the client of the project send smaller batches, or raise MAX_BODY_MB, which sets the memory of threads. If memory is not the reason, report it with this line; INGEST_THREADS=0 disables threads',
  },
  rpcAnswered: {
    level: 'debug',
    message: 'gRPC call completed',
    when: 'Every gRPC call that was not temporarily rejected, when it ends.',
  },
  rpcFailed: {
    level: 'error',
    message: 'gRPC call failed with an internal error',
    when: 'A call got INTERNAL: a bug in Spanhouse, with the full error.',
    action: 'Report it with this line. Nothing in the call was acknowledged; exporters may drop its spans',
  },
  signInRefused: {
    level: 'warn',
    message: 'Sign-in refused',
    when: 'The credentials are invalid or expired (`unauthenticated`), or came from a page of another site (`forbidden`): each at most ten times a minute for each address.',
    action:
      'Nothing for one or two: probably a typo. Many from one address may be a guessing attack: block it at the proxy',
  },
});
