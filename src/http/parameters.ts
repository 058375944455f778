import { Type } from '@sinclair/typebox';
import { oneOf, uuid } from '../engine/schema/parts.js';
import { EXPORT_FORMATS } from '../engine/traces/model/list/export.js';
import { page } from './page.js';
import { queryOf } from './query.js';

/* Parameters that several groups of routes have. */

export const project_id = uuid('The project; it must be that of the API key.');
export const judge_id = uuid('Id of the judge.');

export const ProjectParams = Type.Object({ project_id });
export const MemberParams = Type.Object({ project_id, user_id: uuid('Id of the user.') });
export const JudgeParams = Type.Object({ project_id, judge_id });

/** How an export is written. */
export const exportFormat = oneOf(EXPORT_FORMATS, 'The format of the file.', 'jsonl');

/** The query of a list that few projects need more than one page of. */
export const pageOfThousand = queryOf(Type.Object(page({ maxLimit: 1000, defaultLimit: 1000 })));
