import { ExperimentsOf } from '../experiments/experiment-list.js';
import type { TabProps } from './tab-props.js';

/** The experiments on the dataset, in any version. */
export function ExperimentsTab({ dataset }: TabProps) {
  return <ExperimentsOf dataset={dataset.name} />;
}
