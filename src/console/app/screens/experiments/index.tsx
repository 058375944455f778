import type { ScreenProps } from '../../frame/screen-props.js';
import { place } from '../../state/location.js';
import { ComparisonList } from '../comparisons/comparison-list.js';
import { ComparisonScreen } from '../comparisons/comparison-screen.js';
import { NewComparison } from '../comparisons/new-comparison.js';
import { ExperimentList } from './experiment-list.js';
import { ExperimentScreen } from './experiment-screen.js';

export { ExperimentsOf } from './experiment-list.js';

/** All experiments, or one of them; or comparisons, which show much of the same. */
export default function Experiments({ id }: ScreenProps) {
  if (place.value.screen === 'comparisons') return <Comparisons id={id} />;
  return id === null ? <ExperimentList /> : <ExperimentScreen key={id} id={id} />;
}

function Comparisons({ id }: ScreenProps) {
  if (id === null) return <ComparisonList />;
  return id === 'new' ? <NewComparison /> : <ComparisonScreen key={id} id={id} />;
}
