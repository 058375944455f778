import { formatTimestamp } from '../../../engine/timestamp.js';
import { partsOf } from '../../datasets/row-parts.js';
import type { ComparedRow, ComparedRowPage, RowSide } from '../compared-rows.js';
import type { Comparison, ListedComparison } from '../comparison-store.js';

/** How the documentation groups the routes of comparisons. */
export const TAG = 'Comparisons';

export const toListedRead = ({ created_at, ...listed }: ListedComparison) => ({
  ...listed,
  created_at: formatTimestamp(created_at),
});

export function toComparisonRead({ request, found, is_repeat, ...listed }: Comparison) {
  const { confidence, slices, errors } = request;
  const { because, rows, left_out, metrics, spent } = found;
  const said = { because, confidence, slices, errors, is_repeat, rows, left_out, metrics };
  return { ...toListedRead(listed), ...said, ...(spent !== undefined && { spent }) };
}

export function toRowRead({ content, candidate, baseline, ...row }: ComparedRow, roles: ComparedRowPage['roles']) {
  const { input, expected } =
    content === null
      ? { input: null, expected: null }
      : partsOf(JSON.parse(content) as Readonly<Record<string, unknown>>, roles);
  return { ...row, input_data: input, expected, candidate: toSideRead(candidate), baseline: toSideRead(baseline) };
}

function toSideRead({ value, result }: RowSide) {
  return {
    value,
    output_data: result?.output_data ?? null,
    error_message: result?.error_message ?? null,
    has_error: result?.has_error ?? false,
    trace_id: result?.trace_id ?? null,
  };
}
