import { Type } from '@sinclair/typebox';
import { ModelName, ProviderName } from '../../../../domain/price/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { project_id } from '../parameters.js';

export { ProjectParams } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Model prices';

export const PriceParams = Type.Object({ project_id, provider: ProviderName, model: ModelName });
export const JobParams = Type.Object({
  project_id,
  job_id: uuid('Id of the job.'),
});
