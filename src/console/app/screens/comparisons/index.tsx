import type { ScreenProps } from '../../frame/screen-props.js';
import { ComparisonList } from './comparison-list.js';
import { ComparisonScreen } from './comparison-screen.js';
import { NewComparison } from './new-comparison.js';

/** All comparisons of experiments, one of them, or a new one. */
export default function Comparisons({ id }: ScreenProps) {
  if (id === null) return <ComparisonList />;
  return id === 'new' ? <NewComparison /> : <ComparisonScreen key={id} id={id} />;
}
