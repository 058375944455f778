import { formatTimestamp } from '../../../engine/timestamp.js';
import type { ComparedRow, ComparedRowPage, RowSide } from '../compared-rows.js';
import type { Comparison, ListedComparison } from '../comparison-store.js';

/** How the documentation groups the routes of comparisons. */
export const TAG = 'Comparisons';

export const toListedRead = ({ created_at, ...listed }: ListedComparison) => ({
  ...listed,
  created_at: formatTimestamp(created_at),
});

export function toComparisonRead({ request, found, ...listed }: Comparison) {
  const { confidence, slices, errors } = request;
  const { because, rows, left_out, metrics } = found;
  return { ...toListedRead(listed), because, confidence, slices, errors, rows, left_out, metrics };
}

type Columns = Readonly<Record<string, unknown>>;

export function toRowRead({ content, candidate, baseline, ...row }: ComparedRow, roles: ComparedRowPage['roles']) {
  const data = content === null ? null : (JSON.parse(content) as Columns);
  const hasRoles = Object.keys(roles).length > 0;
  const of = (role: string) =>
    data && Object.fromEntries(Object.entries(data).filter(([column]) => roles[column] === role));
  return {
    ...row,
    input: hasRoles ? of('input') : data,
    expected: of('expected'),
    candidate: toSideRead(candidate),
    baseline: toSideRead(baseline),
  };
}

function toSideRead({ value, result }: RowSide) {
  return {
    value,
    output: result?.output ?? null,
    error_message: result?.error_message ?? null,
    has_error: result?.has_error ?? false,
    trace_id: result?.trace_id ?? null,
  };
}
