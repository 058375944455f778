/** The middle value; the lower of the two when there is an even number. NaN without values. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The smallest value that `share` percent of the values do not exceed. NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((sorted.length * share) / 100) - 1)] ?? NaN;
}

/** With as many decimals as the size of the value deserves. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}

export function megabytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${Math.round(bytes / 2 ** 20).toLocaleString('en')} MB` : 'n/a';
}

/** How a figure stands to its target, in words for a table. */
export function against(value: number, comparison: '≥' | '≤' | '<', target: number): string {
  const met = comparison === '≥' ? value >= target : comparison === '≤' ? value <= target : value < target;
  return `${comparison} ${target.toLocaleString('en')}: ${met ? 'met' : 'NOT met'}`;
}

/** Prints rows as the table they will be in the results. */
export function printTable(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const lines = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_column, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const [index, line] of lines.entries()) {
    process.stdout.write(
      `${line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
    if (index === 0) process.stdout.write(`${widths.map((width) => '─'.repeat(width)).join('  ')}\n`);
  }
}
