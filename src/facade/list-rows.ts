import { parseTimestamp } from '../engine/timestamp.js';
import { invalid } from '../engine/validation/validation.js';
import type { ListDefinition } from '../engine/traces/model/list/definitions.js';
import type { Page } from '../engine/traces/model/list/lists.js';
import {
  defaultQuery,
  type AppliedFilter,
  type FilterValue,
  type ListedPosition,
  type ListQuery,
} from '../engine/traces/model/list/query.js';
import { TEXT_LIMIT, textOf } from './answer.js';

/** A span, trace or session as a list answers it: each has some of these. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly trace_id: string;
  readonly parent_span_id: string | null;
  readonly session_id: string | null;
  readonly kind: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly created_at: string;
  readonly duration_ms: number | null;
  readonly has_error: boolean;
  readonly error_message: string | null;
  readonly root_span_input?: string | null;
  readonly root_span_output?: string | null;
  readonly input_data?: string | null;
  readonly output_data?: string | null;
  readonly attributes?: Readonly<Record<string, unknown>> | null;
  readonly tags?: Readonly<Record<string, string>> | null;
  readonly model: string | null;
  readonly cost: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly prompt_version_id: string | null;
  readonly prompt_slug: string | null;
  readonly prompt_version: number | null;
}

export interface Asked {
  readonly filters: readonly (AppliedFilter | null)[];
  /** Tag → its value, or one of these; absent values do not filter. */
  readonly tags?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly sort?: string;
  readonly descending?: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Only spans behind this one. */
  readonly behind?: ListedPosition | null;
  readonly count?: boolean;
  readonly fields?: readonly string[];
}

/** The query of a list. What belongs to experiments is listed, too, as clients look for the traces of their runs. */
export function queryFor(list: ListDefinition, { filters, tags, fields, count, ...asked }: Asked): ListQuery {
  const named = Object.entries(tags ?? {}).flatMap(([tag, value]) =>
    value === undefined ? [] : [[tag, [value].flat()] as const],
  );
  return {
    ...defaultQuery(list),
    ...asked,
    experiments: 'included',
    filters: filters.filter((filter) => filter !== null),
    tags: new Map(named),
    count: count ?? false,
    fields: fields ?? null,
    textLimit: TEXT_LIMIT,
  };
}

/** @returns null: nothing is asked */
export function filterBy(
  list: ListDefinition,
  parameter: string,
  value: FilterValue | undefined,
): AppliedFilter | null {
  const filter = list.filters.find((one) => one.parameter === parameter);
  if (filter === undefined) throw new Error(`There is no filter ${parameter}`);
  return value === undefined ? null : { filter, values: [value] };
}

/** A time of the query. @throws DomainError `invalid` */
export function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text);
  if (time === undefined) throw invalid([{ pointer: `?${name}`, detail: 'must be an ISO 8601 time' }]);
  return time;
}

/** The objects of a page. @throws DomainError `too_large` */
export async function rowsOf(page: Page): Promise<Row[]> {
  return JSON.parse(await textOf(page)) as Row[];
}
