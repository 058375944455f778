import { DomainError, type DomainErrorKind, type Issue } from '../engine/errors.js';
import { isRetryable } from '../engine/work/retryable.js';

/** RFC 9457. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: readonly Issue[];
  readonly missing_scopes?: readonly string[];
}

interface HttpMeaning {
  readonly status: number;
  readonly title: string;
}

/** The one table from what went wrong to what HTTP calls it. */
export const HTTP_MEANINGS: Readonly<Record<DomainErrorKind, HttpMeaning>> = {
  malformed: { status: 400, title: 'Malformed request' },
  unauthenticated: { status: 401, title: 'Not signed in, or no valid API key' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  too_large: { status: 413, title: 'Request too large' },
  unsupported_media: { status: 415, title: 'Unsupported content type or encoding' },
  invalid: { status: 422, title: 'Invalid request' },
  overloaded: { status: 429, title: 'Too many requests' },
  unavailable: { status: 503, title: 'Service unavailable' },
  internal: { status: 500, title: 'Internal error' },
};

/** Titles of errors of the HTTP protocol itself, which are no kind of `DomainError`. */
const PROTOCOL_TITLES = {
  400: 'Malformed request',
  408: 'Request timeout',
  431: 'Headers too large',
} as const;

/** A failure of the HTTP exchange itself, which is no kind of `DomainError`. */
export class ProtocolError extends Error {
  readonly status: keyof typeof PROTOCOL_TITLES;

  constructor(status: keyof typeof PROTOCOL_TITLES, detail: string) {
    super(detail);
    this.name = 'ProtocolError';
    this.status = status;
  }
}

/** The client went away while it sent its body: there is no one to answer. */
export class ClientGoneError extends Error {
  constructor() {
    super('The client closed the connection');
    this.name = 'ClientGoneError';
  }
}

/** An error as it goes out: the problem and the headers that belong to it. */
export interface HttpProblem {
  readonly problem: ProblemDetails;
  readonly headers: Readonly<Record<string, string>>;
  /** A defect of ours, to be logged in full; the problem says nothing of it. */
  readonly defect: boolean;
}

/** Any error at all → its problem. Nothing of an unexpected error gets out. */
export function toProblem(error: unknown, requestId: string): HttpProblem {
  const known = error instanceof ProtocolError ? error : toDomainError(error);
  if (known instanceof ProtocolError) {
    const problem = {
      type: problemType(String(known.status)),
      title: PROTOCOL_TITLES[known.status],
      status: known.status,
    };
    return { problem: { ...problem, detail: known.message, request_id: requestId }, headers: {}, defect: false };
  }
  const { status, title } = HTTP_MEANINGS[known.kind];
  const defect = known.kind === 'internal';
  return {
    problem: {
      type: problemType(known.kind),
      title,
      status,
      detail: defect ? 'Internal server error; the server log has details under this request id' : known.message,
      request_id: requestId,
      ...(known.issues.length > 0 ? { errors: known.issues } : {}),
      ...(known.missingScopes.length > 0 ? { missing_scopes: known.missingScopes } : {}),
    },
    headers: headersOf(known),
    defect,
  };
}

function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  // The router's own complaint about a path with bad percent-encoding.
  if (error instanceof Error && 'status' in error && error.status === 400) {
    return new DomainError('malformed', 'The path is not valid percent-encoded UTF-8', { cause: error });
  }
  return new DomainError('internal', 'Unexpected', { cause: error });
}

function headersOf(error: DomainError): Record<string, string> {
  if (error.kind === 'unauthenticated') return { 'WWW-Authenticate': 'Bearer realm="spanhouse"' };
  if (isRetryable(error)) {
    return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1))) };
  }
  return {};
}

function problemType(name: string): string {
  return `urn:spanhouse:problem:${name}`;
}
