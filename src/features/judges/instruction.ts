import { plainText } from '../prompts/prompt-messages.js';
import type { StoredVersion } from '../prompts/prompt.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { runningVersion } from '../prompts/running-version.js';
import type { Judge } from './judge.js';

/** The version of its task prompt that a judge is run with. */
export interface Instruction {
  readonly content: string;
  readonly prompt_version_id: string;
  /** Model bound to the version. */
  readonly model_id: string | null;
}

/** The instruction that a judge runs with; undefined when there is no such prompt. */
export function instructionOf(
  prompts: Pick<PromptStore, 'findVersion'>,
  { project_id, task_slug }: Pick<Judge, 'project_id' | 'task_slug'>,
): Instruction | undefined {
  const version = runningVersion(prompts, project_id, task_slug)?.version;
  return version && instructionIn(version);
}

/** The instruction that a version is: of a chat version, its messages as one text. */
export function instructionIn(version: StoredVersion): Instruction {
  return { content: plainText(version), prompt_version_id: version.id, model_id: version.model_id };
}
