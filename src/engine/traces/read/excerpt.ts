import { literal, sql, value, type Sql } from '../clickhouse/client/sql.js';

/** A text without its middle where it is too long; two thirds of what is kept come from the beginning. */
export function excerpt(column: Sql, max: number): Sql {
  const [head, tail] = [Math.ceil((max * 2) / 3), Math.floor(max / 3)];
  const count = (number: number) => sql`${value(number, 'UInt64')}`;
  return sql`if(ifNull(lengthUTF8(${column}), 0) <= ${count(max)}, ${column}, concat(leftUTF8(${column}, ${count(head)}),
    ${literal('\n[… ')}, toString(lengthUTF8(${column}) - ${count(head + tail)}), ${literal(' characters left out here …]\n')}, rightUTF8(${column}, ${count(tail)})))`;
}
