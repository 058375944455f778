import type { ClickHouseSettings } from '@clickhouse/client';

/** The parts of a request that are in its URL. */
export interface UrlParts {
  readonly database: string;
  /** The statement, when its data are the body. */
  readonly query?: string | undefined;
  readonly query_params?: Readonly<Record<string, unknown>> | undefined;
  readonly clickhouse_settings?: ClickHouseSettings | undefined;
}

/** The search parameters of a request, as the library writes them; it does not export the function that does so. */
export function searchParams({ database, query, query_params, clickhouse_settings }: UrlParts): URLSearchParams {
  const search = new URLSearchParams({ database });
  for (const [name, value] of Object.entries(query_params ?? {})) search.set(`param_${name}`, parameterText(value));
  for (const [name, value] of Object.entries(clickhouse_settings ?? {}))
    if (value !== undefined) search.set(name, settingText(value));
  if (query !== undefined) search.set('query', query);
  return search;
}

function settingText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error('a setting of this kind cannot be sent');
}

/** A value in the form `Escaped` of ClickHouse, in which a `param_*` is read. */
function parameterText(value: unknown): string {
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' ? escaped(value) : elementText(value);
}

/** A value within an array or map: a string is quoted there. */
function elementText(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return `'${escaped(value)}'`;
  if (Array.isArray(value)) return `[${value.map(elementText).join(',')}]`;
  if (typeof value !== 'object') throw new Error('a parameter of this kind cannot be sent');
  const entries = Object.entries(value).map(([key, of]) => `${elementText(key)}:${elementText(of)}`);
  return `{${entries.join(',')}}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+inf' : '-inf';
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' };

function escaped(text: string): string {
  return text.replace(/[\t\n\r'\\]/g, (char) => ESCAPES[char] as string);
}
