import type { ScreenProps } from '../../frame/screen-props.js';
import { DatasetList } from './dataset-list.js';
import { DatasetScreen } from './dataset-screen.js';

/** All datasets, or one of them. */
export default function Datasets({ id }: ScreenProps) {
  return id === null ? <DatasetList /> : <DatasetScreen key={id} name={id} />;
}
