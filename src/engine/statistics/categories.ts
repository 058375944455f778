import jStat from 'jstat';

export interface Homogeneity {
  readonly chiSquare: number;
  readonly degreesOfFreedom: number;
  readonly p: number;
}

/**
 * The test of Stuart and Maxwell: whether two arms put the same things into categories equally often. `table[i][j]`: how often
 * the first said i and the second j. Where categories fall into groups between which nothing moved, it has fewer degrees of freedom.
 * Sources: A. Stuart, Biometrika 42 (1955) 412–416; A. E. Maxwell, British Journal of Psychiatry 116 (1970) 651–655.
 */
export function stuartMaxwell(table: readonly (readonly number[])[]): Homogeneity {
  const size = table.length;
  const at = (i: number, j: number) => table[i]?.[j] ?? 0;
  const all = Array.from({ length: size }, (_, index) => index);
  const differences = all.map((i) => all.reduce((sum, j) => sum + at(i, j) - at(j, i), 0));
  const moved = all.map((i) => all.reduce((sum, j) => sum + (i === j ? 0 : at(i, j) + at(j, i)), 0));
  // The last category's difference follows from the others'.
  const kept = all.slice(0, -1);
  const matrix = kept.map((i) => [
    ...kept.map((j) => (i === j ? (moved[i] ?? 0) : -(at(i, j) + at(j, i)))),
    differences[i] ?? 0,
  ]);
  const { square: chiSquare, rank: degreesOfFreedom } = squareBy(matrix);
  return { chiSquare, degreesOfFreedom, p: pOf(degreesOfFreedom, chiSquare) };
}

const pOf = (degrees: number, chiSquare: number) => (degrees === 0 ? 1 : 1 - jStat.chisquare.cdf(chiSquare, degrees));

/**
 * d′S⁻¹d of rows `[S | d]`, S symmetric and not negative, by elimination, in which each step adds the square of what is left of d
 * by its pivot. A pivot of nothing is a row that follows from the others.
 */
function squareBy(matrix: number[][]): { readonly square: number; readonly rank: number } {
  const size = matrix.length;
  const scale = matrix.reduce((largest, row, index) => Math.max(largest, row[index] ?? 0), 0);
  let square = 0;
  let rank = 0;
  for (const [index, row] of matrix.entries()) {
    const pivot = row[index] ?? 0;
    if (pivot <= scale * 1e-10) continue;
    const value = row[size] ?? 0;
    square += (value * value) / pivot;
    rank += 1;
    for (const below of matrix.slice(index + 1)) {
      const factor = (below[index] ?? 0) / pivot;
      if (factor !== 0)
        for (let column = index; column <= size; column += 1)
          below[column] = (below[column] ?? 0) - factor * (row[column] ?? 0);
    }
  }
  return { square, rank };
}
