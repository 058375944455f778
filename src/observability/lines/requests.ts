import { defineLines } from '../line.js';

/** Requests and calls, and how they were answered. */
export const requestLines = defineLines({
  requestAnswered: {
    level: 'debug',
    message: 'HTTP request answered',
    when: 'Every request that the server did not refuse, once its response is complete.',
  },
  requestRefused: {
    level: 'warn',
    message: 'Request refused',
    when:
      'A request got 429, 503 or another status from 501 up, or a gRPC call got UNAVAILABLE, or RESOURCE_EXHAUSTED ' +
      'with RetryInfo; `reason` is what the client received. The first for each reason; further ones are at level ' +
      '`debug`, until `refusalsEnded`.',
    action:
      'Act on the reason; /readyz names what does not respond. Limits of time or memory: have clients request less, ' +
      'or raise READ_TIMEOUT_SECONDS, ENGINE_MEMORY_MB. Too many at once (429): nothing, if it ends; otherwise have ' +
      'clients send fewer, or see the alert SpanhouseIngestRefused',
  },
  refusalsEnded: {
    level: 'info',
    message: 'No request is refused for this reason any more',
    when:
      'After `requestRefused`, when there was none for half a minute, or at shutdown: how many there were ' +
      '(`refused`), and the time from the first to the last. Not after a single one.',
  },
  requestFailed: {
    level: 'error',
    message: 'HTTP request failed with an internal error',
    when: 'A request got 500, or its response was interrupted: a defect of Spanhouse, with the full error.',
    action: 'Report it with this line; the client has the same request_id. Nothing in the request was acknowledged',
  },
  answerCutOff: {
    level: 'warn',
    message: 'HTTP answer cut off: the client read it too slowly',
    when: 'A client received less than `ANSWER_MIN_BYTES_PER_SECOND`.',
    action:
      'Have the client request less at once (limit, fields), or lower ANSWER_MIN_BYTES_PER_SECOND for slow networks',
  },
  bodyThreadLost: {
    level: 'error',
    message: 'A thread that read a request body ended',
    when:
      'The thread exceeded its memory, and the request got 413; or it ended for a reason in `error`, and the ' +
      'request got 503. Other threads continue, and the next large body gets a new thread.',
    action:
      'Have the client of the project send smaller batches, or raise MAX_BODY_MB, which also gives threads more ' +
      'memory. If memory is not the reason, report it with this line; INGEST_THREADS=0 works without threads',
  },
  rpcAnswered: {
    level: 'debug',
    message: 'gRPC call answered',
    when: 'Every gRPC call that was not temporarily refused, once it has ended.',
  },
  rpcFailed: {
    level: 'error',
    message: 'gRPC call failed with an internal error',
    when: 'A call got INTERNAL: a defect of Spanhouse, with the full error.',
    action: 'Report it with this line. Nothing in the call was acknowledged; exporters may drop its spans',
  },
  signInRefused: {
    level: 'warn',
    message: 'Sign-in refused',
    when:
      'The code or key is not or no longer valid (`unauthenticated`), or the request came from a page of another ' +
      'site (`forbidden`): each at most ten times a minute for each address.',
    action:
      'Nothing for one or two, which are typing errors. Many from one address mean that someone is guessing: block ' +
      'it at the proxy',
  },
});
