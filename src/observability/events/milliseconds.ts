/** As log lines show them: to a tenth. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1e4) / 10;
}
