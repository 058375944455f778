/**
 * The value at a place among others in their order, which are moved for it: in time that grows with their number, where sorting a
 * million of them would hold the event loop for a tenth of a second. Clients choose the order of values, so pivots are drawn by lot.
 */
export function valueAt(values: Float64Array, place: number): number {
  let [from, to] = [0, values.length - 1];
  while (from < to) {
    const pivot = values[from + Math.floor(Math.random() * (to - from + 1))] ?? 0;
    let [low, high] = [from, to];
    while (low <= high) {
      while ((values[low] ?? 0) < pivot) low += 1;
      while ((values[high] ?? 0) > pivot) high -= 1;
      if (low > high) break;
      [values[low], values[high]] = [values[high] ?? 0, values[low] ?? 0];
      low += 1;
      high -= 1;
    }
    if (place <= high) to = high;
    else if (place >= low) from = low;
    else break;
  }
  return values[place] ?? NaN;
}
