import { Type } from '@sinclair/typebox';
import { ModelName, ProviderName } from '../../../../domain/price/schema.js';
import { uuid } from '../../../../domain/validation/fields.js';

/** How the documentation groups these routes. */
export const TAG = 'Model prices';

const project_id = uuid('The project; must be that of the API key.');

export const ProjectParams = Type.Object({ project_id });
export const PriceParams = Type.Object({ project_id, provider: ProviderName, model: ModelName });
export const JobParams = Type.Object({
  project_id,
  job_id: uuid('Id of the job.'),
});
