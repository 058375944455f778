/**
 * Kinds of errors. HTTP and gRPC own the table from kind to protocol status; stores and services only ever throw
 * these, so that they know nothing of either.
 */
export type DomainErrorKind =
  | 'malformed' // the bytes are not what they claim to be (no JSON, bad gzip)
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media'
  | 'invalid' // well-formed, but breaks a rule; `issues` lists every one found
  | 'overloaded' // a bounded queue is full: try again later
  | 'unavailable' // a store does not answer, or a read met its limit of time or memory
  | 'internal';

/** One broken rule: where (JSON pointer into the body, or `?name` for a query parameter) and what. */
export interface Issue {
  readonly pointer: string;
  readonly detail: string;
}

/** Most issues that are reported of one request; more would help no one. */
export const MAX_ISSUES = 100;

export interface DomainErrorOptions {
  readonly issues?: readonly Issue[];
  /** Seconds after which a client should try again; only for `overloaded` and `unavailable`. */
  readonly retryAfterSeconds?: number;
  /** Scopes that the caller lacks; only for `forbidden`. */
  readonly missingScopes?: readonly string[];
  /** What metrics call it, where the kind says too little; default: the kind. */
  readonly reason?: string;
  readonly cause?: unknown;
}

export class DomainError extends Error {
  readonly kind: DomainErrorKind;
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;
  readonly missingScopes: readonly string[];
  readonly reason?: string;

  constructor(kind: DomainErrorKind, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.kind = kind;
    this.issues = (options.issues ?? []).slice(0, MAX_ISSUES);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.missingScopes = options.missingScopes ?? [];
    if (options.reason !== undefined) this.reason = options.reason;
  }
}
