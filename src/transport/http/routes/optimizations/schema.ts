import { Type } from '@sinclair/typebox';
import { Slug } from '../../../../domain/prompt/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { project_id } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Optimizations';

const job_id = uuid('Id of the optimisation.');

export const PromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const JobParams = Type.Object({ project_id, prompt_slug: Slug, job_id });
