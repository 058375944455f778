/** The geometry of charts over time: buckets of equal length, drawn into a box. Knows no DOM. */

/** The ends of a chart's axis. */
export interface Axis {
  readonly bottom: number;
  readonly top: number;
}

/**
 * The ends of a chart's axis, which holds 0, and what its lines are at: three or so round figures, whole ones where what is
 * shown is counted.
 */
export function ticks(largest: number, counted = false, least = 0): Axis & { readonly at: readonly number[] } {
  const [low, high] = [Math.min(0, least), Math.max(0, largest)];
  if (!(high > low)) return { bottom: 0, top: 1, at: [0] };
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const step = counted ? Math.ceil(round) : round;
  // Never less than none: what is 0 may lie a hair below it.
  const [below, above] = [-low, high].map((size) => Math.max(0, Math.ceil(size / step - 1e-9))) as [number, number];
  return {
    bottom: 0 - below * step,
    top: above * step,
    at: Array.from({ length: below + above + 1 }, (_, index) => Number(((index - below) * step).toPrecision(12))),
  };
}

/** Which buckets have their time written below them, so that the texts do not touch. */
export function labelled(buckets: number, width: number, textWidth: number): number[] {
  const fitting = Math.max(1, Math.floor(width / textWidth));
  const step = Math.max(1, Math.ceil(buckets / fitting));
  return Array.from({ length: Math.ceil(buckets / step) }, (_, index) => index * step);
}

/** The bucket below a place of the box, from 0 on. */
export function bucketAt(x: number, width: number, buckets: number): number {
  return Math.max(0, Math.min(buckets - 1, Math.floor((x / width) * buckets)));
}

/** How far below the upper edge of the box a value stands. */
export function heightOf(value: number, { bottom, top }: Axis, height: number): number {
  return height - ((value - bottom) / (top - bottom)) * height;
}

/** A line through what is known: where a value is null, it is broken. */
export function linePath(values: readonly (number | null)[], axis: Axis, width: number, height: number): string {
  const step = width / Math.max(1, values.length);
  let path = '';
  let begun = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      begun = false;
      continue;
    }
    const [x, y] = [(index + 0.5) * step, heightOf(value, axis, height)];
    path += `${begun ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    // A point between two gaps would be too small to be seen.
    if (!begun && (values[index + 1] ?? null) === null) path += 'm-2 0h4';
    begun = true;
  }
  return path;
}

/** Values of several series on top of each other: for each bucket, where each series begins and ends. */
export function stacked(series: readonly (readonly number[])[]): { readonly from: number; readonly to: number }[][] {
  const buckets = series[0]?.length ?? 0;
  return Array.from({ length: buckets }, (_, bucket) => {
    let from = 0;
    return series.map((values) => {
      const to = from + (values[bucket] ?? 0);
      const part = { from, to };
      from = to;
      return part;
    });
  });
}
