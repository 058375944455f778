import {
  Metadata,
  ResponderBuilder,
  ServerInterceptingCall,
  ServerListenerBuilder,
  status,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { DomainError } from '../../engine/errors.js';
import { FairQuota } from '../../engine/work/fair-quota.js';
import { watchArrival, type ArrivalLimits } from '../../http/wire/arrival.js';
import type { BodyBytes, BodyMemory } from '../../http/wire/body-memory.js';
import { unfold } from '../../http/wire/unfold.js';
import { CallIntake } from './call-intake.js';
import { refusalOf, toStatus } from './status.js';
import { authenticateCall, type CallerIdentity } from './trace-service.js';
import type { Signals } from '../../engine/signals/signals.js';
import { networkOf } from '../../http/wire/client-address.js';

export interface AdmissionOptions {
  readonly identity: CallerIdentity;
  /** Calls at once, over all connections; one project has at most as many as are left free. */
  readonly maxCalls: number;
  readonly memory: BodyMemory;
  readonly limits: ArrivalLimits & {
    /** Largest message, as sent and after decompression. */
    readonly maxBodyBytes: number;
  };
  readonly observer: Pick<Signals, 'rpcFinished'>;
}

/** What a call was told that failed. */
interface Ending {
  readonly reason?: string;
  /** The same, where it is to be sent again. */
  readonly refusedFor?: string | undefined;
}

/**
 * Refuses calls by their headers, before their message is read: callers without a key, and calls beyond the limit. Counts
 * messages while they arrive and until they are answered, and ends calls whose message comes too late or too slowly.
 */
export function createAdmission({ identity, maxCalls, memory, limits, observer }: AdmissionOptions): ServerInterceptor {
  const calls = new FairQuota(maxCalls);
  return (method, call) => {
    const startedAt = performance.now();
    let open = true;
    let release = (): void => undefined;
    let stopWatch = (): void => undefined;
    let intake: CallIntake | undefined;
    let held: BodyBytes | undefined;
    const close = (code: status, { refusedFor, reason = '' }: Ending = {}) => {
      if (!open) return;
      open = false;
      release();
      stopWatch();
      const seconds = (performance.now() - startedAt) / 1000;
      const refused = refusedFor === undefined ? {} : { refusedFor };
      const isDenied = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED;
      const address = peerOf(call);
      const denied = isDenied ? { denied: { address, network: networkOf(address), caller: {}, reason } } : {};
      observer.rpcFinished({ method: method.path, code: status[code], seconds, ...refused, ...denied });
    };
    const refuse = (error: unknown) => {
      if (open) intercepted.sendStatus(toStatus(error));
    };
    const giveUp = (details: string) => {
      if (open) intercepted.sendStatus({ code: status.DEADLINE_EXCEEDED, details, metadata: new Metadata() });
    };
    const admit = (metadata: Metadata) => {
      const { project_id: project } = authenticateCall(identity, metadata, () => peerOf(call));
      if (!calls.take(project, 1))
        throw new DomainError('overloaded', 'Too many concurrent gRPC calls. Retry later.', { retryAfterSeconds: 1 });
      const bytes = memory.ofProject(project);
      release = () => {
        calls.giveBack(project, 1);
        bytes.end();
      };
      held = bytes;
      const arriving = new CallIntake(call, (arrived) => {
        if (!open) return;
        try {
          bytes.hold(arrived);
        } catch (error) {
          refuse(error);
        }
      });
      intake = arriving;
      stopWatch = watchArrival(limits, {
        arrived: () => arriving.arrived(),
        expected: () => arriving.expected(),
        giveUp,
      });
    };
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          admit(metadata);
        } catch (error) {
          refuse(error);
          return;
        }
        next(metadata);
      })
      .withOnReceiveMessage((message: Buffer, next) => {
        const compression = intake?.compression() ?? null;
        if (compression === null || held === undefined) next(message);
        else unfold(message, compression, limits.maxBodyBytes, held).then(next, refuse);
      })
      .withOnReceiveHalfClose((next) => {
        stopWatch();
        next();
      })
      .withOnCancel(() => close(status.CANCELLED))
      .build();
    const responder = new ResponderBuilder()
      .withStart((next) => next(listener))
      .withSendStatus((sent, next) => {
        close(sent.code ?? status.UNKNOWN, { refusedFor: refusalOf(sent), reason: sent.details ?? '' });
        next(sent);
      })
      .build();
    const intercepted = new ServerInterceptingCall(call, responder);
    return intercepted;
  };
}

function peerOf(call: { getPeer(): string }): string {
  return call.getPeer().replace(/:\d+$/, '');
}
