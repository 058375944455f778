import { DomainError } from '../../engine/errors.js';
import type { Run } from './run.js';

const UNREADABLE = 'the span cannot be read';

/** Reason of a run that failed as its span could not be read, in words for its project. */
export function unreadable(error: unknown): string {
  if (!(error instanceof DomainError)) return UNREADABLE;
  // The text after the colon is advice on queries, but here no one wrote one.
  return `${UNREADABLE}: ${error.message.split(':')[0] ?? ''}`;
}

/** Whether the last attempt of a run failed because its span could not be read. */
export function isUnreadable({ reason }: Pick<Run, 'reason'>): boolean {
  return reason?.startsWith(UNREADABLE) ?? false;
}
