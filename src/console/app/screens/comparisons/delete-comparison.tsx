import { Ending } from '../../parts/ending.js';
import { leaveDeleted } from '../../state/deleted.js';
import { COMPARISONS, pathOfComparison, type ListedComparison } from './data.js';

interface DeleteComparisonProps {
  readonly comparison: ListedComparison;
  readonly onClose: () => void;
}

/** Deletes a comparison, and leads to the list. */
export function DeleteComparison({ comparison: { id, candidate, baseline }, onClose }: DeleteComparisonProps) {
  const gone = () => leaveDeleted({ id, to: { screen: 'comparisons' }, changed: [COMPARISONS] });
  return (
    <Ending
      title="Delete this comparison?"
      action="Delete comparison"
      path={pathOfComparison(id)}
      done="Comparison deleted"
      onDone={gone}
      onClose={onClose}
    >
      <p>
        What was found of <bdi>{candidate.name}</bdi> and <bdi>{baseline.name}</bdi> is deleted. Both experiments stay.
      </p>
    </Ending>
  );
}
