import type { ScreenProps } from '../../frame/screen-props.js';
import { JudgeList } from './judge-list.js';
import { JudgeScreen } from './judge-screen.js';
import { NewJudge } from './new-judge.js';

/** No id of a judge: where one is made. */
export const NEW = 'new';

/** All judges, one of them, or one to be made. */
export default function Judges({ id }: ScreenProps) {
  if (id === null) return <JudgeList />;
  return id === NEW ? <NewJudge /> : <JudgeScreen key={id} id={id} />;
}
