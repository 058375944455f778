import type { ListDefinition } from './definitions.js';
import { defaultQuery, type FilterValue, type ListQuery } from './query.js';

/** Which objects of a list a query finds, as JSON: neither which page of them, nor what of them is shown. */
export interface Selection extends Pick<ListQuery, 'search' | 'internal' | 'experiments' | 'experiment'> {
  /** Values by the parameters of the filters. Times are moments, however they were asked for. */
  readonly filters: readonly (readonly [parameter: string, values: readonly FilterValue[]])[];
  readonly tags: readonly (readonly [key: string, values: readonly string[]])[];
  readonly scores: readonly (readonly [name: string, filter: ScoreFilterOf])[];
}

type ScoreFilterOf = ListQuery['scores'] extends ReadonlyMap<string, infer F> ? F : never;

export function selectionOf({
  filters,
  tags,
  scores,
  search,
  internal,
  experiments,
  experiment,
}: ListQuery): Selection {
  return {
    filters: filters.map(({ filter, values }) => [filter.parameter, values]),
    tags: [...tags],
    scores: [...scores],
    ...{ search, internal, experiments, experiment },
  };
}

/** A query that finds what was selected, also after an upgrade that knows more filters. @throws Error for one that is gone */
export function querySelecting(list: ListDefinition, { filters, tags, scores, ...rest }: Selection): ListQuery {
  return {
    ...defaultQuery(list),
    ...rest,
    filters: filters.map(([parameter, values]) => {
      const filter = list.filters.find((each) => each.parameter === parameter);
      if (filter === undefined) throw new Error(`${list.name} have no filter ${parameter}`);
      return { filter, values };
    }),
    tags: new Map(tags),
    scores: new Map(scores),
  };
}
