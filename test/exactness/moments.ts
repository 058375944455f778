import type { Deletion, Model, Recount, Write } from './model.js';
import type { Read } from './stored-span.js';
import { disagreement, pathOf, type View } from './views.js';

/*
 * What lists may answer while several clients write. Requests are taken in one after another, each as a whole; a moment
 * is a number of them, the first ones of their order. An answer must be a recount at one moment, with all in it that
 * was acknowledged, or read, before it was asked for, and nothing that was sent after it came.
 */

/** When a request was sent and answered: places in one order of all that the clients saw. */
export interface Exchange {
  readonly sent: number;
  readonly answered: number;
}

export interface Writing extends Exchange {
  readonly writes: readonly Exclude<Write, Deletion>[];
}

export interface Reading extends Exchange {
  readonly view: View;
  readonly answers: readonly Read[];
}

/** Why no order of the requests explains all answers; null: one does. */
export function contradiction(
  before: Model,
  writings: readonly Writing[],
  readings: readonly Reading[],
): string | null {
  const inTurn = [...readings].sort((a, b) => a.sent - b.sent);
  let closest: Unexplained | null = null;
  for (const order of orders(writings)) {
    const unexplained = explain(before, order, inTurn);
    if (unexplained === null) return null;
    if (closest === null || unexplained.explained > closest.explained) closest = unexplained;
  }
  return closest && closest.problem;
}

interface Unexplained {
  readonly problem: string;
  /** How many readings before it were not contradicted. */
  readonly explained: number;
}

/** Gives each reading the earliest moment that it can be of: that leaves the later ones the most. */
function explain(before: Model, order: readonly Writing[], inTurn: readonly Reading[]): Unexplained | null {
  const recounts = recountsOf(before, order);
  const moments: number[] = [];
  for (const [explained, reading] of inTurn.entries()) {
    const acknowledged = order.findLastIndex(({ answered }) => answered < reading.sent) + 1;
    const seen = moments.filter((_, index) => isBefore(inTurn[index], reading));
    const earliest = Math.max(acknowledged, ...seen);
    const unsent = order.findIndex(({ sent }) => sent > reading.answered);
    const latest = unsent === -1 ? order.length : unsent;
    const possible = recounts.slice(earliest, latest + 1);
    const problems = possible.map((recount) => disagreement(reading.view, reading.answers, recount));
    const found = problems.indexOf(null);
    if (found === -1) return { problem: tell(reading, earliest, problems, order.length), explained };
    moments.push(earliest + found);
  }
  return null;
}

/** At every moment: before the first request, after it, and so on. */
function recountsOf(before: Model, order: readonly Writing[]): Recount[] {
  const model = before.copy();
  const after = order.map(({ writes }) => {
    for (const write of writes) model.apply(write);
    return model.recount();
  });
  return [before.recount(), ...after];
}

/** Those in which the requests may have been taken in. */
function* orders(writings: readonly Writing[]): Generator<readonly Writing[]> {
  if (writings.length === 0) yield [];
  for (const first of writings) {
    const others = writings.filter((writing) => writing !== first);
    if (others.some((other) => isBefore(other, first) || isTakenInBefore(other, first))) continue;
    for (const rest of orders(others)) yield [first, ...rest];
  }
}

function isBefore(one: Exchange | undefined, other: Exchange): boolean {
  return one !== undefined && one.answered < other.sent;
}

/** As the times tell that the store gave them; of posted traces and sessions only the time of their request is known. */
function isTakenInBefore(one: Writing, other: Writing): boolean {
  return Math.max(...one.writes.map(({ at }) => at.high)) < Math.min(...other.writes.map(({ at }) => at.low));
}

function tell(reading: Reading, earliest: number, problems: readonly (string | null)[], requests: number): string {
  const moments = problems.map((problem, index) => `after ${earliest + index} of ${requests} writes, ${problem}`);
  return `GET ${pathOf(reading.view)} during writes is of no one moment: ${moments.join(' | ')}`;
}
