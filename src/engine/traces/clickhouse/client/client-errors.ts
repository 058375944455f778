import { ClickHouseError } from '@clickhouse/client';
import { DomainError } from '../../../errors.js';
import type { DomainErrorKind, DomainErrorOptions } from '../../../errors.js';
import {
  BEFORE_WRITING,
  BROKEN_CONNECTION,
  LIMITS,
  MEMORY_LIMIT_EXCEEDED,
  NO_CONNECTION,
  NO_SPACE,
  NOT_ENOUGH_SPACE,
  NOT_NOW,
  OPENING,
  TOO_LARGE,
  UNREADABLE,
} from './error-codes.js';

/** Whether rows of a failed insert may have been stored: `none` is certain, `unknown` is not. */
export type InsertOutcome = 'none' | 'unknown';

interface InsertFacts {
  readonly outcome: InsertOutcome;
  /** Whether nothing was stored because the rows themselves, or some of them, cannot be read. */
  readonly unreadable: boolean;
}

/** A failed insert. */
export class InsertError extends DomainError implements InsertFacts {
  readonly outcome: InsertOutcome;
  readonly unreadable: boolean;

  constructor(kind: DomainErrorKind, detail: string, facts: InsertFacts, options: DomainErrorOptions) {
    super(kind, detail, options);
    this.name = 'InsertError';
    this.outcome = facts.outcome;
    this.unreadable = facts.unreadable;
  }

  /** This failure, of an insert that followed one to another table. */
  partly(): InsertError {
    const { kind, message, unreadable, cause, retryAfterSeconds } = this;
    return new InsertError(
      kind,
      message,
      { outcome: 'unknown', unreadable },
      { cause, ...(retryAfterSeconds && { retryAfterSeconds }) },
    );
  }
}

/** The embedded engine's answer to a statement that it refused before running any of it, whatever its code. */
export class NotRunError extends Error {
  /** @param answer the error as the answer words it */
  constructor(answer: Error) {
    super(answer.message, { cause: answer });
    this.name = 'NotRunError';
  }
}

const RETRY_AFTER_SECONDS = 1;
/** The pause before a retry is longer when the disk is full, as it is seldom freed at once. */
const DISK_FULL_RETRY_AFTER_SECONDS = 5;

interface Failure {
  readonly kind: DomainErrorKind;
  readonly detail: string;
}

/** The DomainError for an error that the library threw. */
export function clickHouseFailure(cause: unknown): DomainError {
  const { kind, detail } = classify(cause);
  return new DomainError(kind, detail, optionsOf(kind, cause));
}

/** The InsertError for an error that the library threw at an insert. */
export function insertFailure(cause: unknown): InsertError {
  const { kind, detail } = classify(cause);
  const outcome = outcomeOf(cause);
  const unreadable = outcome === 'none' && UNREADABLE.has(clickHouseCodeOf(cause));
  return new InsertError(kind, detail, { outcome, unreadable }, optionsOf(kind, cause));
}

/** ClickHouse's own code of a statement that it refused; null when the failure is another one. */
export function refusalCode(error: unknown): number | null {
  const cause = error instanceof DomainError ? error.cause : error;
  return cause instanceof ClickHouseError ? Number(cause.code) : null;
}

/** Whether a statement failed as it was to work on too much: another, with less, may do well at the same moment. */
export function metLimit(error: unknown): boolean {
  const code = refusedBy(error);
  return LIMITS.has(code) || TOO_LARGE.has(code);
}

/** Whether what a statement was to work on is too large for ClickHouse to hold, however long it may take. */
export function isTooLarge(error: unknown): boolean {
  const code = refusedBy(error);
  return code === MEMORY_LIMIT_EXCEEDED || TOO_LARGE.has(code);
}

/** The code that ClickHouse refused a statement by, of whichever error; NaN: it did not. */
function refusedBy(error: unknown): number {
  return clickHouseCodeOf(error instanceof DomainError ? error.cause : error);
}

/** Whether a statement failed for want of room on ClickHouse's disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ClickHouseError) return Number(error.code) === NOT_ENOUGH_SPACE || NO_SPACE.test(error.message);
  return isDiskFull(error.cause);
}

function optionsOf(kind: DomainErrorKind, cause: unknown): DomainErrorOptions {
  if (isDiskFull(cause)) return { cause, retryAfterSeconds: DISK_FULL_RETRY_AFTER_SECONDS };
  return kind === 'unavailable' ? { cause, retryAfterSeconds: RETRY_AFTER_SECONDS } : { cause };
}

function outcomeOf(cause: unknown): InsertOutcome {
  if (cause instanceof NotRunError || BEFORE_WRITING.has(clickHouseCodeOf(cause))) return 'none';
  return NO_CONNECTION.has(codeOf(cause)) && wasOpening(cause) ? 'none' : 'unknown';
}

function classify(cause: unknown): Failure {
  if (cause instanceof NotRunError) return classify(cause.cause);
  if (isDiskFull(cause)) return { kind: 'unavailable', detail: 'the disk of ClickHouse is full' };
  if (cause instanceof ClickHouseError) {
    const code = Number(cause.code);
    const limit = LIMITS.get(code);
    if (limit !== undefined)
      return { kind: 'unavailable', detail: `the query exceeded its ${limit} limit: narrow the filters` };
    const reason = NOT_NOW.get(code);
    if (reason !== undefined) return { kind: 'unavailable', detail: reason };
    return { kind: 'internal', detail: `ClickHouse rejected a statement (code ${cause.code})` };
  }
  const code = codeOf(cause);
  if (NO_CONNECTION.has(code) || BROKEN_CONNECTION.has(code))
    return { kind: 'unavailable', detail: 'ClickHouse does not respond' };
  const message = cause instanceof Error ? cause.message : String(cause);
  if (/^Timeout error|socket hang up|aborted/i.test(message))
    return { kind: 'unavailable', detail: 'ClickHouse did not respond in time' };
  return { kind: 'internal', detail: 'a statement to ClickHouse failed' };
}

function clickHouseCodeOf(cause: unknown): number {
  return cause instanceof ClickHouseError ? Number(cause.code) : Number.NaN;
}

/** Whether opening a connection failed. The errors of all addresses of a host come as one. */
function wasOpening(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(wasOpening);
  return OPENING.has(String((cause as { syscall?: unknown } | null | undefined)?.syscall));
}

function codeOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
