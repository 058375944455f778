import { Type } from '@sinclair/typebox';
import { uuid } from '../../../domain/schema/parts.js';

/* Path parameters that several groups of routes have. */

export const project_id = uuid('The project; must be that of the API key.');
export const judge_id = uuid('Id of the judge.');

export const ProjectParams = Type.Object({ project_id });
export const JudgeParams = Type.Object({ project_id, judge_id });
