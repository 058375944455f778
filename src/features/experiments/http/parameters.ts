import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { TagName } from '../../../engine/schema/tag.js';
import { project_id } from '../../../http/parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Experiments';

const experiment_id = uuid('Id of the experiment.');
export const ExperimentParams = Type.Object({ project_id, experiment_id });
export const ExperimentTagParams = Type.Object({ project_id, experiment_id, tag: TagName });
