import { identifierLiteral, stringLiteral } from '../client/literals.js';
import { ErrorCode, EngineError } from './engine-error.js';
import type { Statement } from './statement.js';

// chDB's own parameters are shared by all its connections (a race), so they are not used.

/** The value of a setting as SQL: numbers bare, all else quoted. */
export function settingLiteral(value: string): string {
  return /^-?\d{1,18}(\.\d{1,9})?$/.test(value) ? value : stringLiteral(value);
}

const UNESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
};

/** Undoes the escaping of ClickHouse's `Escaped` (TSV) form, in which a `param_*` of a scalar type is sent. */
export function unescapeTsv(value: string): string {
  return value.replace(
    /\\(?:x([0-9A-Fa-f]{2})|([\s\S]))/g,
    (whole, hex: string | undefined, char: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (char === undefined) return whole;
      return UNESCAPES[char] ?? (/[\\`"'/]/.test(char) ? char : whole);
    },
  );
}

const COMPOSITE = /^(Array|Tuple|Nested|Variant|JSON|Object|Point|Ring|Polygon|MultiPolygon|LineString)\b/;
const STRING = /^String$/;
const MAP = /^Map\b/;

// The tokens that the text of a map may hold: quoted strings, numbers and their like, brackets, separators.
const VALUE_TOKEN =
  /\s*(?:('[^'\\]*(?:\\[\s\S][^'\\]*)*'|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|NULL|true|false|nan|[-+]?inf|[[\](),])|([{}:]))\s*/y;
const MAP_SYNTAX: Readonly<Record<string, string>> = { '{': 'map(', '}': ')', ':': ',' };

/** A map as SQL. Maps are not cast from strings: the text is rewritten as calls of `map`, and may hold only values. */
function mapLiteral(type: string, value: string): string {
  let sql = '';
  VALUE_TOKEN.lastIndex = 0;
  while (VALUE_TOKEN.lastIndex < value.length) {
    const match = VALUE_TOKEN.exec(value);
    if (match === null) {
      throw EngineError.of(ErrorCode.badQueryParameter, `A value cannot be parsed as ${type}.`, 'BAD_QUERY_PARAMETER');
    }
    sql += match[1] ?? MAP_SYNTAX[match[2] ?? ''] ?? '';
  }
  return `_CAST(${sql}, ${stringLiteral(type)})`;
}

/**
 * One parameter as SQL: what ClickHouse's server makes of `param_name` at a `{name:Type}`.
 *
 * @param value as it came in the URL, still in `Escaped` form.
 */
export function parameterLiteral(type: string, value: string): string {
  if (type === 'Identifier') return identifierLiteral(unescapeTsv(value));
  if (value === '\\N') return `_CAST(NULL, ${stringLiteral(type)})`;
  if (MAP.test(type)) return mapLiteral(type, value);
  // Inside arrays, maps and tuples strings are quoted, not escaped: the text is passed on as it is.
  if (COMPOSITE.test(type)) return `_CAST(${stringLiteral(value)}, ${stringLiteral(type)})`;
  const plain = stringLiteral(unescapeTsv(value));
  return STRING.test(type) ? plain : `_CAST(${plain}, ${stringLiteral(type)})`;
}

/**
 * Puts the values of a request in the places of its placeholders.
 *
 * @throws EngineError 456 when a placeholder has no value.
 */
export function bindParameters(statement: Statement, values: ReadonlyMap<string, string>): string {
  let text = '';
  let from = 0;
  for (const { start, end, name, type } of statement.placeholders) {
    const value = values.get(name);
    if (value === undefined) {
      throw EngineError.of(
        ErrorCode.unknownQueryParameter,
        `Substitution \`${name}\` is not set.`,
        'UNKNOWN_QUERY_PARAMETER',
      );
    }
    text += statement.text.slice(from, start) + parameterLiteral(type, value);
    from = end;
  }
  return text + statement.text.slice(from);
}
