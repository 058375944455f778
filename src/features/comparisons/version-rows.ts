import { PortionSize } from '../../engine/work/portions.js';
import type { Between, RowReads, RowState } from '../datasets/dataset.js';
import type { LeftOut, Slicing } from './comparison.js';

/** Row ids that are looked at together: some milliseconds of work. */
const AT_ONCE = 1_000;
/** Contents that are read together: of the largest rows, as many megabytes. */
const CONTENTS_AT_ONCE = 50;
/** Values of a column that make a slice: the most frequent ones. */
const MAX_VALUES = 10;
/** Longest value of a slice, in characters: longer ones are texts, of which hardly any comes twice. */
const MAX_VALUE = 100;

/** The rows of a dataset that two versions have alike, and the others. */
export interface VersionRows {
  readonly ids: readonly string[];
  /** Numbers of their contents. */
  readonly contents: readonly number[];
  readonly leftOut: readonly { readonly id: string; readonly reason: LeftOut }[];
}

/** Reads which rows are in both versions, in portions between which others have their turns. @throws the signal's reason */
export async function readVersionRows(
  rows: Pick<RowReads, 'states'>,
  datasetId: string,
  versions: Between,
  signal: AbortSignal,
): Promise<VersionRows> {
  const found = { ids: [] as string[], contents: [] as number[], leftOut: [] as { id: string; reason: LeftOut }[] };
  const portions = new PortionSize({ first: AT_ONCE, most: AT_ONCE });
  for (let after: string | null = ''; after !== null;) {
    const from: string = after;
    after = await portions.turn((size) => {
      const states = rows.states(datasetId, versions, from, size);
      for (const state of states) take(found, state);
      return states.at(-1)?.row_id ?? null;
    }, signal);
  }
  return found;
}

function take(
  found: { ids: string[]; contents: number[]; leftOut: { id: string; reason: LeftOut }[] },
  { row_id: id, before, after }: RowState,
): void {
  if (before === null && after === null) return;
  if (before === null || after === null) found.leftOut.push({ id, reason: 'not_in_both_versions' });
  else if (before.content === null || after.content === null) found.leftOut.push({ id, reason: 'erased' });
  else if (before.content !== after.content) found.leftOut.push({ id, reason: 'content_differs' });
  else {
    found.ids.push(id);
    found.contents.push(after.content);
  }
}

/** The values that columns have in rows, by their contents. @throws the signal's reason */
export async function readSlicings(
  rows: Pick<RowReads, 'contents'>,
  contents: readonly number[],
  slices: readonly string[],
  signal: AbortSignal,
): Promise<Slicing[]> {
  const columns = slices.map((slice) => slice.replace(/^data\./, ''));
  if (columns.length === 0) return [];
  const values = columns.map(() => [] as (string | null)[]);
  const portions = new PortionSize({ first: 1, most: CONTENTS_AT_ONCE });
  for (let from = 0; from < contents.length;) {
    from += await portions.turn((size) => {
      const some = contents.slice(from, from + size);
      const texts = rows.contents(some);
      for (const content of some) {
        const data = JSON.parse(texts.get(content) ?? '{}') as Readonly<Record<string, unknown>>;
        for (const [index, column] of columns.entries()) values[index]?.push(valueText(data[column]));
      }
      return some.length;
    }, signal);
  }
  return columns.map((column, index) => slicingOf(column, values[index] ?? []));
}

/** Null: no value that makes a slice. */
function valueText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  return text.length > MAX_VALUE ? null : text;
}

function slicingOf(column: string, values: readonly (string | null)[]): Slicing {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  const named = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_VALUES);
  const places = new Map(named.map(([value], index) => [value, index]));
  const of = Int32Array.from(values, (value) => (value === null ? -1 : (places.get(value) ?? -1)));
  return { column, values: [...places.keys()], of };
}
