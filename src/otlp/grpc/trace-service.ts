import { status, type handleUnaryCall, type Metadata, type ServiceDefinition } from '@grpc/grpc-js';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { requireScopes } from '../../engine/identity/scopes.js';
import type { ExportTraces } from '../export.js';
import { encodeResponse } from '../response.js';
import { toStatus } from './status.js';
import type { Signals } from '../../engine/signals/signals.js';

/** The part of the identity service that gRPC needs. */
export interface CallerIdentity {
  /** Throws DomainError `unauthenticated`. */
  authenticate(authorization: string | undefined, from?: () => string): Principal;
}

export interface TraceServiceParts {
  readonly identity: CallerIdentity;
  readonly exportTraces: ExportTraces;
  readonly observer: Pick<Signals, 'rpcFailed' | 'tracing'>;
}

export const EXPORT_PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

const asIs = (bytes: Buffer) => bytes;

/** TraceService of OTLP. Messages stay bytes here: the decoder of OTLP/HTTP reads them. */
export const traceServiceDefinition = {
  export: {
    path: EXPORT_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
} as const satisfies ServiceDefinition;

export function createTraceService(parts: TraceServiceParts): { export: handleUnaryCall<Buffer, Buffer> } {
  const exportCall = async (metadata: Metadata, message: Buffer): Promise<Buffer> => {
    const principal = authenticateCall(parts.identity, metadata);
    const partial = await parts.exportTraces(principal.project_id, { bytes: message, encoding: 'protobuf' });
    return Buffer.from(encodeResponse('protobuf', partial));
  };
  return {
    export: ({ metadata, request }, answer) => {
      traced(parts.observer, metadata, () => exportCall(metadata, request)).then(
        (response) => answer(null, response),
        (error: unknown) => {
          if (!(error instanceof DomainError) || error.kind === 'internal')
            parts.observer.rpcFailed({ method: EXPORT_PATH, error });
          answer(toStatus(error));
        },
      );
    },
  };
}

/**
 * @param from the other end of the connection
 * @throws DomainError `unauthenticated`; `forbidden` for a key that may not send spans
 */
export function authenticateCall(identity: CallerIdentity, metadata: Metadata, from?: () => string): Principal {
  const principal = identity.authenticate(metadata.get('authorization')[0]?.toString(), from);
  requireScopes(principal, ['spans:write']);
  return principal;
}

/** Has the observer trace a call, if it does. */
function traced<T>({ tracing }: Pick<Signals, 'tracing'>, metadata: Metadata, work: () => Promise<T>): Promise<T> {
  if (tracing === undefined) return work();
  const header = (name: string) => metadata.get(name)[0]?.toString();
  const caller = { userAgent: header('user-agent'), traceparent: header('traceparent') };
  return tracing.call({ path: EXPORT_PATH, ...caller }, (error) => status[toStatus(error).code], work);
}
