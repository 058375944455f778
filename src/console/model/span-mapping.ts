import { spanList } from '../../engine/traces/model/list/definitions.js';

/** Where a column of a dataset comes from. */
export interface MappedColumn {
  readonly column: string;
  /** A field of spans, `attributes.<key>`, `tags.<key>` or what a person expected. */
  readonly source: string;
}

const EXPECTED = 'feedback.expected_output';
/** Sources to choose from; members of attributes and tags are entered. */
export const SOURCES: readonly string[] = ['input_data', 'output_data', EXPECTED, ...Object.keys(spanList.fields)];
/** What columns are usually called, by what they come from. */
const USUAL: readonly (readonly [source: string, names: RegExp])[] = [
  ['input_data', /^(input|question|prompt|query)s?$/i],
  [EXPECTED, /^(expected|expected_output|answer|reference|ground_truth|target)s?$/i],
  ['output_data', /^(output|response|completion|said)s?$/i],
];
const BY_ROLE: Readonly<Record<string, string>> = { input: 'input_data', expected: EXPECTED };

interface MappedDataset {
  readonly roles: Readonly<Record<string, string>>;
  readonly latest_version: { readonly columns: readonly string[] } | null;
}

/** Where columns of a dataset may come from, by what they are for and called; each source once. */
export function proposedMapping({ roles, latest_version }: MappedDataset): MappedColumn[] {
  const columns = [...new Set([...(latest_version?.columns ?? []), ...Object.keys(roles)])];
  const sources = new Map<string, string>();
  const take = (source: string | undefined, column: string) => {
    if (source !== undefined && !sources.has(source)) sources.set(source, column);
  };
  for (const column of columns) take(BY_ROLE[roles[column] ?? ''], column);
  for (const column of columns)
    if (roles[column] === undefined) take(USUAL.find(([, names]) => names.test(column))?.[0], column);
  if (sources.size === 0)
    return [
      { column: 'input', source: 'input_data' },
      { column: 'output', source: 'output_data' },
      { column: 'expected', source: EXPECTED },
    ];
  return [...sources].map(([source, column]) => ({ column, source }));
}

/** Columns by name, without those that are not filled in. */
export function mappingOf(columns: readonly MappedColumn[]): Record<string, string> {
  const given = columns.map(({ column, source }) => [column.trim(), source.trim()] as const);
  return Object.fromEntries(given.filter(([column, source]) => column !== '' && source !== ''));
}

/** Why columns cannot be mapped so; null: they can. */
export function mappingMistake(columns: readonly MappedColumn[]): string | null {
  const names = columns.map(({ column }) => column.trim()).filter((column) => column !== '');
  if (names.includes('row_id')) return 'No column can be called row_id: a row has the ID of its span';
  if (new Set(names).size < names.length) return 'Each column needs a name of its own';
  return Object.keys(mappingOf(columns)).length === 0 ? 'Enter a column and its source' : null;
}
