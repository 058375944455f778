import { Type } from '@sinclair/typebox';
import { Slug } from '../../../../domain/prompt/schema.js';
import { uuid } from '../../../../domain/validation/fields.js';

/** How the documentation groups these routes. */
export const TAG = 'Optimizations';

const project_id = uuid('The project; must be that of the API key.');
const job_id = uuid('Id of the optimisation.');

export const PromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const JobParams = Type.Object({ project_id, prompt_slug: Slug, job_id });
