/**
 * Probabilities adjusted for how many tests there are, in their order: with all below a level, one of them is wrong at most as
 * often as the level says. Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
 */
export function holm(probabilities: readonly number[]): number[] {
  const order = [...probabilities.keys()].sort((a, b) => (probabilities[a] ?? 0) - (probabilities[b] ?? 0));
  const adjusted = probabilities.slice();
  let highest = 0;
  for (const [rank, index] of order.entries()) {
    highest = Math.max(highest, Math.min(1, (probabilities[index] ?? 0) * (order.length - rank)));
    adjusted[index] = highest;
  }
  return adjusted;
}
