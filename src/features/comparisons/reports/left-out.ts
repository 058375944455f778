import type { LeftOut } from '../comparison.js';
import type { Compared } from '../outcome.js';
import { countOf } from '../words.js';

const REASONS: Readonly<Record<LeftOut, string>> = {
  missing_in_candidate: 'without a result in the candidate',
  missing_in_baseline: 'without a result in the baseline',
  missing_in_both: 'without a result in either',
  content_differs: 'with another content in the other version of the dataset',
  not_in_both_versions: 'in only one of the two versions of the dataset',
  erased: 'erased',
};

/** Which rows are not compared, in words; empty: all are. */
export function leftOutText({ left_out }: Pick<Compared, 'left_out'>): string {
  return (Object.keys(REASONS) as LeftOut[])
    .filter((reason) => left_out[reason] > 0)
    .map((reason) => `${countOf(left_out[reason], 'row')} ${REASONS[reason]}`)
    .join(', ');
}
