import { LATEST } from '../prompt/prompt.js';
import type { PromptStore } from '../prompt/prompt-store.js';
import type { Judge } from './judge.js';

/** The version of its task prompt that a judge is run with. */
export interface Instruction {
  readonly content: string;
  readonly prompt_version_id: string;
  /** Model bound to the version. */
  readonly model_id: string | null;
}

/** The tag that decides which version runs; while it is not pinned, the latest does. */
export const RUNNING_TAG = 'production';

/** The instruction that a judge runs with; undefined when there is no such prompt. */
export function instructionOf(
  prompts: Pick<PromptStore, 'findVersion'>,
  { project_id, task_slug }: Pick<Judge, 'project_id' | 'task_slug'>,
): Instruction | undefined {
  const tagged = (tag: string) => prompts.findVersion(project_id, task_slug, { by: 'tag', tag });
  const version = tagged(RUNNING_TAG) ?? tagged(LATEST);
  return version && { content: version.content, prompt_version_id: version.id, model_id: version.model_id };
}
