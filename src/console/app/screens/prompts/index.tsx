import type { ScreenProps } from '../../frame/screen-props.js';
import { PromptList } from './prompt-list.js';
import { PromptScreen } from './prompt-screen.js';

/** All prompts, or one of them. */
export default function Prompts({ id }: ScreenProps) {
  return id === null ? <PromptList /> : <PromptScreen key={id} slug={id} />;
}
