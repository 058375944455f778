import { sql, value, type Sql } from '../clickhouse/client/sql.js';

/*
 * How a text is found in another, whatever its case: `positionCaseInsensitiveUTF8` of ClickHouse compares a long text at
 * nearly every place (13 s for 200 characters in 5 MB of one letter), and neither time limits nor KILL reach inside a row.
 * `position` of texts in lower case takes at most some 40 ms for each MB, with a text of the length that queries may have.
 */

/** Bytes of the part of a text that is looked for first: at so few, comparing whatever its case takes no longer either. */
const GLANCE_BYTES = 16;
/**
 * Characters that are ASCII or have no case: ClickHouse compares them byte by byte, whatever the case of ASCII letters. That of the
 * few others whose lower case is ASCII (İ, the Kelvin sign) is not looked at: it would make most searches slower.
 */
const BYTE_FOR_BYTE = /[\0-\x7f\P{Changes_When_Casemapped}]+/gu;

/** A text as texts are compared: in lower case, in which the place of a sigma in its word makes no difference. */
export function folded(text: Sql): Sql {
  return sql`replaceAll(lowerUTF8(${text}), 'ς', 'σ')`;
}

/** A condition that a needle occurs in a text, whatever its case. */
export function occursIn(text: Sql, needle: string): Sql {
  const part = glance(needle);
  const exact = sql`position(${folded(text)}, ${folded(sql`${value(needle, 'String')}`)}) > 0`;
  if (part === '') return exact;
  // Most texts are without it, and need not be brought to lower case.
  const near = sql`positionCaseInsensitive(${text}, ${value(part, 'String')}) > 0`;
  return part === needle ? near : sql`${near} AND ${exact}`;
}

/** The longest stretch of such characters in a text, up to {@link GLANCE_BYTES}; empty when it has none. */
function glance(needle: string): string {
  const stretches = needle.match(BYTE_FOR_BYTE) ?? [];
  const parts = stretches.map((stretch) => {
    const { read } = new TextEncoder().encodeInto(stretch, new Uint8Array(GLANCE_BYTES));
    return stretch.slice(0, read);
  });
  return parts.reduce((longest, part) => (Buffer.byteLength(part) > Buffer.byteLength(longest) ? part : longest), '');
}
