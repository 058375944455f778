import { defineLines } from '../line.js';

/** Requests and calls, and how they were answered. */
export const requestLines = defineLines({
  requestAnswered: {
    level: 'debug',
    message: 'HTTP request answered',
    when: 'Every request that was not refused by the server, when its answer is whole.',
  },
  requestRefused: {
    level: 'warn',
    message: 'Request refused',
    when: 'A request was answered 429, 503 or another status from 501 up, or a gRPC call UNAVAILABLE, or RESOURCE_EXHAUSTED with RetryInfo; `reason` is what its client was told. The first for each reason; more are at level `debug`, until `refusalsEnded`.',
    action:
      'Act on the reason; /readyz names what does not answer. Limits of time or memory: have clients ask for less, or raise READ_TIMEOUT_SECONDS, ENGINE_MEMORY_MB. Too many at once (429): nothing, if it ends; else have clients send fewer, or see the alert SpanhouseIngestRefused',
  },
  refusalsEnded: {
    level: 'info',
    message: 'No request is refused for this reason any more',
    when: 'After `requestRefused`, when none was for half a minute, or at the stop: how many there were (`refused`), and from the first to the last in which time. Not after a single one.',
  },
  requestFailed: {
    level: 'error',
    message: 'HTTP request failed with an internal error',
    when: 'A request was answered 500, or its answer was cut off: a defect of Spanhouse, with the error in full.',
    action: 'Report it with this line; the client has the same request_id. Nothing of the request was acknowledged',
  },
  answerCutOff: {
    level: 'warn',
    message: 'HTTP answer cut off: the client read it too slowly',
    when: 'A client took less than `ANSWER_MIN_BYTES_PER_SECOND`.',
    action:
      'Have the client ask for less at once (limit, fields), or lower ANSWER_MIN_BYTES_PER_SECOND for slow networks',
  },
  bodyThreadLost: {
    level: 'error',
    message: 'A thread that read a request body ended',
    when: 'The thread needed more memory than it may have, and the request was answered 413; or it ended for a reason that `error` names, and the request was answered 503. Others go on, and the next large body gets a new thread.',
    action:
      'Have the client of the project send smaller batches, or raise MAX_BODY_MB, by which threads get memory. If it is not for memory, report it with this line; INGEST_THREADS=0 does without threads',
  },
  rpcAnswered: {
    level: 'debug',
    message: 'gRPC call answered',
    when: 'Every call over gRPC that was not refused for a moment, when it has ended.',
  },
  rpcFailed: {
    level: 'error',
    message: 'gRPC call failed with an internal error',
    when: 'A call was answered INTERNAL: a defect of Spanhouse, with the error in full.',
    action: 'Report it with this line. Nothing of the call was acknowledged; exporters may drop its spans',
  },
  signInRefused: {
    level: 'warn',
    message: 'Sign-in refused',
    when: 'What was sent is not or no longer valid (`unauthenticated`), or came from a page of another site (`forbidden`): each at most ten times a minute for each address.',
    action:
      'Nothing for one or two: somebody mistyped. Many from one address are somebody guessing: block it at the proxy',
  },
});
