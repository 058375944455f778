import type { Static } from '@sinclair/typebox';
import { joinValues } from '../../engine/traces/model/list/comma-values.js';
import type { Comparison, ListDefinition } from '../../engine/traces/model/list/definitions.js';
import type { StatisticsRead as Statistics } from '../../features/traces/http/statistics-schema.js';

/** What `GET /{list}:stats` answers; a figure that was not asked for is absent. */
export type StatisticsRead = Static<typeof Statistics>;
export type GroupRead = StatisticsRead['groups'][number];
export type FiguresRead = StatisticsRead['totals'];

/** Comparisons that find exactly the objects with a value. */
const EQUALITY: ReadonlySet<Comparison> = new Set<Comparison>(['is', 'anyOf', 'anyModel']);

/** The filter of a list that finds the objects of a group; null: none can, as for those without a value. */
export function filterOfGroup(
  list: ListDefinition,
  field: string,
  value: GroupRead['value'],
): Record<string, string> | null {
  if (value === null) return null;
  if (field.startsWith('tags.')) return { [field]: String(value) };
  const filter = list.filters.find((one) => one.field === field && EQUALITY.has(one.comparison));
  if (filter === undefined) return null;
  const written = filter.comparison === 'is' ? String(value) : joinValues([String(value)]);
  return { [filter.parameter]: written };
}

/** The sum of all classes of tokens that are no part of another; null where nothing is known. */
export function tokensOf({ tokens }: Pick<FiguresRead, 'tokens'>): number | null {
  const known = [tokens?.['input'], tokens?.['output']].filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
