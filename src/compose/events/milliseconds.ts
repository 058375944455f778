/** Seconds as milliseconds, rounded to a tenth for log lines. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1e4) / 10;
}
