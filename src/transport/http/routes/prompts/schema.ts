import { Type } from '@sinclair/typebox';
import { Slug, Tag, VersionNumber } from '../../../../domain/prompt/schema.js';
import type { VersionSelector } from '../../../../domain/prompt/prompt.js';
import { project_id } from '../parameters.js';

export { ProjectParams } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Prompts';

export const PromptParams = Type.Object({ prompt_slug: Slug });
export const TaskParams = Type.Object({ task_name: Slug });
export const ProjectPromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const TagParams = Type.Object({ project_id, prompt_slug: Slug, tag: Tag });
export const VersionParams = Type.Object({ project_id, prompt_slug: Slug, version: VersionNumber });

/** By number when there is one, else by tag. */
export function selectorOf(version: number | undefined, tag: string): VersionSelector {
  return version === undefined ? { by: 'tag', tag } : { by: 'number', version };
}
