import type { Micros } from '../../timestamp.js';
import type { TimeRange } from '../read/times.js';

/** Spans that started within a range, about so many. */
export interface IndexedRange extends TimeRange {
  readonly spans: number;
}

/**
 * The latest of some ranges, or the earliest, that hold about `spans` spans: everything beyond a moment, of all ranges.
 * @returns null when that would be all.
 */
export function outermost(indexed: readonly IndexedRange[], spans: number, latest: boolean): TimeRange[] | null {
  const inward = [...indexed].sort(latest ? (a, b) => b.from - a.from : (a, b) => a.to - b.to);
  let count = 0;
  const last = inward.find((range) => (count += range.spans) >= spans);
  if (last === undefined || last === inward.at(-1)) return null;
  return latest
    ? indexed.filter(({ to }) => to >= last.from).map(({ from, to }) => ({ from: Math.max(from, last.from), to }))
    : indexed.filter(({ from }) => from <= last.to).map(({ from, to }) => ({ from, to: Math.min(to, last.to) }));
}

/**
 * At most `most` ranges that cover all of `ranges`, in ascending order and apart from each other: what overlaps becomes
 * one, and then the smallest gaps are given up.
 */
export function coveredBy(ranges: readonly TimeRange[], most: number): TimeRange[] {
  const apart: { from: Micros; to: Micros }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else apart.push({ from, to });
  }
  if (apart.length <= most) return apart;
  const gaps = apart.slice(1).map(({ from }, index) => ({ index: index + 1, size: from - (apart[index]?.to ?? 0) }));
  const kept = gaps
    .sort((a, b) => b.size - a.size)
    .slice(0, most - 1)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
  const starts = [0, ...kept];
  return starts.map((start, index) => ({
    from: apart[start]?.from ?? 0,
    to: apart[(starts[index + 1] ?? apart.length) - 1]?.to ?? 0,
  }));
}
