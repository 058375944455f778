import type { ScreenProps } from '../../frame/screen-props.js';
import { ExperimentList } from './experiment-list.js';
import { ExperimentScreen } from './experiment-screen.js';

/** All experiments, or one of them. */
export default function Experiments({ id }: ScreenProps) {
  return id === null ? <ExperimentList /> : <ExperimentScreen key={id} id={id} />;
}
