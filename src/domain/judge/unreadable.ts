import { DomainError } from '../errors.js';
import type { Run } from './run.js';

const UNREADABLE = 'the span cannot be read';

/** Why a run failed whose span could not be read, in words for its project. */
export function unreadable(error: unknown): string {
  if (!(error instanceof DomainError)) return UNREADABLE;
  // What comes after the colon is advice on queries, which here nobody wrote.
  return `${UNREADABLE}: ${error.message.split(':')[0] ?? ''}`;
}

/** Whether that is why the last attempt of a run failed. */
export function isUnreadable({ reason }: Pick<Run, 'reason'>): boolean {
  return reason?.startsWith(UNREADABLE) ?? false;
}
