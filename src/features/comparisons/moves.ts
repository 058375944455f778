import { stuartMaxwell } from '../../engine/statistics/categories.js';
import { namesOf } from './arm-figures.js';
import type { Move, PairedMetric } from './comparison.js';

/** Most categories that are tested one by one; the rarest others count as one. */
const MAX_TESTED = 30;
/** Most moves that are named. */
const MAX_MOVES = 50;

/** Rows whose category changed, the most frequent first, and the test of whether categories are as frequent as before. */
export function movesOf(metric: PairedMetric): {
  readonly moves: readonly Move[];
  readonly p: number | null;
} {
  const { candidate, baseline, categories } = metric;
  if (candidate.length === 0) return { moves: [], p: null };
  const counts = new Map<number, number>();
  for (let row = 0; row < candidate.length; row += 1) {
    const key = (baseline[row] ?? 0) * categories.length + (candidate[row] ?? 0);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const cells = [...counts].map(([key, rows]) => ({
    from: Math.floor(key / categories.length),
    to: key % categories.length,
    rows,
  }));
  const moves = named(cells, namesOf(metric))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, MAX_MOVES);
  return { moves, p: stuartMaxwell(tableOf(cells, categories.length)).p };
}

/** Moves by the names of categories. Those between two that are not named are left away. */
function named(
  cells: readonly { readonly from: number; readonly to: number; readonly rows: number }[],
  names: readonly string[],
): Move[] {
  const moves = new Map<string, Move>();
  for (const { from, to, rows } of cells) {
    const move = { from: names[from] ?? '', to: names[to] ?? '' };
    if (move.from === move.to) continue;
    const key = JSON.stringify(move);
    moves.set(key, { ...move, rows: rows + (moves.get(key)?.rows ?? 0) });
  }
  return [...moves.values()];
}

function tableOf(
  cells: readonly { readonly from: number; readonly to: number; readonly rows: number }[],
  count: number,
) {
  const frequency = new Array<number>(count).fill(0);
  for (const { from, to, rows } of cells) {
    frequency[from] = (frequency[from] ?? 0) + rows;
    frequency[to] = (frequency[to] ?? 0) + rows;
  }
  const order = [...frequency.keys()].sort((a, b) => (frequency[b] ?? 0) - (frequency[a] ?? 0));
  const place = new Map(order.map((category, rank) => [category, Math.min(rank, MAX_TESTED)]));
  const size = Math.min(count, MAX_TESTED + 1);
  const table = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  for (const { from, to, rows } of cells) {
    const row = table[place.get(from) ?? 0];
    const column = place.get(to) ?? 0;
    if (row !== undefined) row[column] = (row[column] ?? 0) + rows;
  }
  return table;
}
