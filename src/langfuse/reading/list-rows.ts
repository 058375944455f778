import { DomainError } from '../../engine/errors.js';
import { parseTimestamp } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import type { Page } from '../../engine/traces/model/list/lists.js';
import {
  defaultQuery,
  type AppliedFilter,
  type FilterValue,
  type ListQuery,
} from '../../engine/traces/model/list/query.js';

/** A span, trace or session as a list answers it. */
export type Row = Readonly<Record<string, any>>;

/** Most bytes of the objects of one answer, which is made in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Longer texts have their middle left out. */
const TEXT_LIMIT = 100_000;

export interface Asked {
  readonly filters: readonly (AppliedFilter | null)[];
  /** Tag → its value, or one of these; absent values do not filter. */
  readonly tags?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly sort?: string;
  readonly descending?: boolean;
  readonly limit: number;
  readonly offset: number;
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
export async function rowsOf({ json }: Page): Promise<Row[]> {
  if (Buffer.isBuffer(json)) {
    requireSize(json.length);
    return JSON.parse(json.toString()) as Row[];
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of json as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(piece as string);
    bytes += buffer.length;
    requireSize(bytes);
    pieces.push(buffer);
  }
  return JSON.parse(Buffer.concat(pieces).toString()) as Row[];
}

function requireSize(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw new DomainError('too_large', `The answer has more than ${MAX_BYTES} bytes: ask for fewer at once`);
}
