import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../engine/errors.js';
import { endTime, time } from './parameter.js';

/** Both bounds of time, inclusive. @param what it bounds, as in "only those stored" */
export const timeRange = (what: string) => ({
  start_date: Type.Optional(time(`Only ${what} then or later.`)),
  end_date: Type.Optional(endTime(`Only ${what} then or earlier.`)),
});

type TimeRange = {
  readonly [Bound in keyof ReturnType<typeof timeRange>]?: Static<ReturnType<typeof timeRange>[Bound]> | undefined;
};

/** Bounds that cross are a mistake of the sender. */
export function checkTimeRange({ start_date, end_date }: TimeRange): Issue[] {
  if (start_date === undefined || end_date === undefined || start_date <= end_date) return [];
  return [{ pointer: '?end_date', detail: 'must not be before start_date' }];
}
