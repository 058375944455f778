import {
  Metadata,
  ResponderBuilder,
  ServerInterceptingCall,
  ServerListenerBuilder,
  status,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { DomainError } from '../../domain/errors.js';
import type { RpcObserver } from '../../observability/events/requests.js';
import { toStatus } from './status.js';
import { authenticateCall, type CallerIdentity } from './trace-service.js';

export interface AdmissionOptions {
  readonly identity: CallerIdentity;
  /** Calls at once, over all connections. */
  readonly maxCalls: number;
  /** A message must be there this long after its headers. */
  readonly readTimeoutMs: number;
  readonly observer: Pick<RpcObserver, 'rpcFinished'>;
}

/** Refuses a call by its headers, before its message is read: callers without a key, and calls beyond the limit. */
export function createAdmission({ identity, maxCalls, readTimeoutMs, observer }: AdmissionOptions): ServerInterceptor {
  let calls = 0;
  return (method, call) => {
    const startedAt = performance.now();
    let open = true;
    let timer: NodeJS.Timeout | undefined;
    calls += 1;
    const close = (code: status) => {
      if (!open) return;
      open = false;
      calls -= 1;
      clearTimeout(timer);
      const seconds = (performance.now() - startedAt) / 1000;
      observer.rpcFinished({ method: method.path, code: status[code], seconds });
    };
    const late = () => {
      const details = `The message did not arrive within ${Math.ceil(readTimeoutMs / 1000)} s`;
      intercepted.sendStatus({ code: status.DEADLINE_EXCEEDED, details, metadata: new Metadata() });
    };
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          authenticateCall(identity, metadata);
          if (calls > maxCalls)
            throw new DomainError('overloaded', 'Too many calls are in work', { retryAfterSeconds: 1 });
        } catch (error) {
          intercepted.sendStatus(toStatus(error));
          return;
        }
        timer = setTimeout(late, readTimeoutMs);
        next(metadata);
      })
      .withOnReceiveHalfClose((next) => {
        clearTimeout(timer);
        next();
      })
      .withOnCancel(() => close(status.CANCELLED))
      .build();
    const responder = new ResponderBuilder()
      .withStart((next) => next(listener))
      .withSendStatus((sent, next) => {
        close(sent.code ?? status.UNKNOWN);
        next(sent);
      })
      .build();
    const intercepted = new ServerInterceptingCall(call, responder);
    return intercepted;
  };
}
