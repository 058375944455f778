import type { ScreenProps } from '../../frame/screen-props.js';

/** All comparisons of experiments, or one of them. */
export default function Comparisons({ id }: ScreenProps) {
  return <p>{id}</p>;
}
