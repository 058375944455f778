import { OWN_CALL_TAGS } from '../../schema/own-calls.js';
import { join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';

/**
 * Whether a row has a tag with one of some values; lists and judges ask alike. The last test is there for the bloom filter,
 * which lets it skip what cannot match. An empty key in a map with LowCardinality keys is found by its place only:
 * `mapContains` and `tags['']` do not see it (ClickHouse 26.7).
 */
export function tagged(key: string, values: readonly string[]): Sql {
  const k = value(key, 'String');
  const v = value(values, 'Array(String)');
  const found =
    key === ''
      ? sql`arrayExists((k, v) -> k = '' AND has(${v}, v), mapKeys(tags), mapValues(tags))`
      : sql`mapContains(tags, ${k}) AND has(${v}, tags[${k}])`;
  return sql`(${found} AND hasAny(mapValues(tags), ${v}))`;
}

/** The texts of the tag of a key that a row has: one, or none. As for {@link tagged}, an empty key is found by its place. */
export function textsOfTag(key: string): Sql {
  if (key === '') return sql`arrayFilter((v, k) -> k = '', mapValues(tags), mapKeys(tags))`;
  const k = value(key, 'String');
  return sql`if(mapContains(tags, ${k}), [tags[${k}]], [])`;
}

/** The keys of a row's tags. */
export const keysOfTags = sql`CAST(mapKeys(tags), 'Array(String)')`;

/** Whether a span is a call of a model that the server itself made, for a judge or a run. */
export const isOwnCall = sql`(${join(
  OWN_CALL_TAGS.map((tag) => sql`mapContains(tags, ${literal(tag)})`),
  ' OR ',
)})`;
