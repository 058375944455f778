import { Type } from '@sinclair/typebox';
import { byKey, oneOf, orNull, uuid } from '../../engine/schema/parts.js';

/** Which rows are shown. */
export const ROW_OUTCOMES = ['win', 'loss', 'tie', 'error', 'left_out'] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];
export const LEFT_OUT_REASONS = [
  'missing_in_candidate',
  'missing_in_baseline',
  'missing_in_both',
  'content_differs',
  'not_in_both_versions',
  'erased',
  'no_value',
  'error',
  'too_large',
] as const;

const rowArm = (description: string) =>
  Type.Object(
    {
      value: orNull(
        Type.Union([Type.Number(), Type.String()], {
          description: 'Value of the metric: the mean of repetitions, or the category; null: none.',
        }),
      ),
      output_data: orNull(Type.String({ description: 'Output of its first result; null: there is none.' })),
      error_message: orNull(Type.String({ description: 'Error of that result.' })),
      has_error: Type.Boolean({ description: 'Whether that result is an error.' }),
      trace_id: orNull(uuid('Trace of that result.')),
    },
    { description },
  );
const columns = (description: string) => orNull(byKey(Type.Unknown(), { description }));

export const ComparedRow = Type.Object(
  {
    row_id: Type.String({ description: 'Id of the row.' }),
    outcome: oneOf(ROW_OUTCOMES, 'What became of it.'),
    left_out: orNull(
      oneOf(LEFT_OUT_REASONS, 'Why it is left out; `too_large`: a value is beyond 1e100; null: it is not.'),
    ),
    input_data: columns(
      'Its columns with the role `input`; if no column has a role, all but `expected`. Null: erased.',
    ),
    expected: columns('Its columns with the role `expected`; if no column has a role, `expected`. Null: erased.'),
    candidate: rowArm('The candidate.'),
    baseline: rowArm('The baseline.'),
  },
  { $id: 'ComparedRow', description: 'A row of a comparison.' },
);
