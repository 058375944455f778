import {
  Metadata,
  ResponderBuilder,
  ServerInterceptingCall,
  ServerListenerBuilder,
  status,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
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
export function createAdmission({ maxCalls, ...options }: AdmissionOptions): ServerInterceptor {
  const parts = { ...options, calls: new FairQuota(maxCalls) };
  return ({ path }, call) => new AdmittedCall(parts, path, call).intercepted;
}

interface AdmittedCallParts extends Omit<AdmissionOptions, 'maxCalls'> {
  readonly calls: FairQuota;
}

/** One call, from its headers to its status. */
class AdmittedCall {
  readonly intercepted: ServerInterceptingCall;
  readonly #parts: AdmittedCallParts;
  readonly #path: string;
  readonly #call: ServerInterceptingCallInterface;
  readonly #startedAt = performance.now();
  #open = true;
  #intake: CallIntake | undefined;
  #held: BodyBytes | undefined;
  #release = (): void => undefined;
  #stopWatch = (): void => undefined;

  constructor(parts: AdmittedCallParts, path: string, call: ServerInterceptingCallInterface) {
    this.#parts = parts;
    this.#path = path;
    this.#call = call;
    const listener = this.#listener();
    const responder = new ResponderBuilder()
      .withStart((next) => next(listener))
      .withSendStatus((sent, next) => {
        this.#close(sent.code ?? status.UNKNOWN, { refusedFor: refusalOf(sent), reason: sent.details ?? '' });
        next(sent);
      })
      .build();
    this.intercepted = new ServerInterceptingCall(call, responder);
  }

  #listener(): ServerListener {
    return new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          this.#admit(metadata);
        } catch (error) {
          this.#refuse(error);
          return;
        }
        next(metadata);
      })
      .withOnReceiveMessage((message: Buffer, next) => {
        const compression = this.#intake?.compression() ?? null;
        if (compression === null || this.#held === undefined) next(message);
        else
          unfold(message, compression, this.#parts.limits.maxBodyBytes, this.#held).then(next, (error: unknown) =>
            this.#refuse(error),
          );
      })
      .withOnReceiveHalfClose((next) => {
        this.#stopWatch();
        next();
      })
      .withOnCancel(() => this.#close(status.CANCELLED))
      .build();
  }

  /** @throws DomainError `unauthenticated`, `forbidden`, `overloaded` */
  #admit(metadata: Metadata): void {
    const { identity, memory, limits, calls } = this.#parts;
    const { project_id: project } = authenticateCall(identity, metadata, () => peerOf(this.#call));
    if (!calls.take(project, 1))
      throw new DomainError('overloaded', 'Too many concurrent gRPC calls. Retry later.', { retryAfterSeconds: 1 });
    const bytes = memory.ofProject(project);
    this.#release = () => {
      calls.giveBack(project, 1);
      bytes.end();
    };
    this.#held = bytes;
    const arriving = new CallIntake(this.#call, (arrived) => this.#hold(bytes, arrived));
    this.#intake = arriving;
    this.#stopWatch = watchArrival(limits, {
      arrived: () => arriving.arrived(),
      expected: () => arriving.expected(),
      giveUp: (details) => this.#giveUp(details),
    });
  }

  #hold(bytes: BodyBytes, arrived: number): void {
    if (!this.#open) return;
    try {
      bytes.hold(arrived);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    if (this.#open) this.intercepted.sendStatus(toStatus(error));
  }

  #giveUp(details: string): void {
    if (this.#open) this.intercepted.sendStatus({ code: status.DEADLINE_EXCEEDED, details, metadata: new Metadata() });
  }

  #close(code: status, { refusedFor, reason = '' }: Ending = {}): void {
    if (!this.#open) return;
    this.#open = false;
    this.#release();
    this.#stopWatch();
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const refused = refusedFor === undefined ? {} : { refusedFor };
    const isDenied = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED;
    const address = peerOf(this.#call);
    const denied = isDenied ? { denied: { address, network: networkOf(address), caller: {}, reason } } : {};
    this.#parts.observer.rpcFinished({ method: this.#path, code: status[code], seconds, ...refused, ...denied });
  }
}

function peerOf(call: { getPeer(): string }): string {
  return call.getPeer().replace(/:\d+$/, '');
}
