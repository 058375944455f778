import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, oneOf, orNull, time } from '../../engine/schema/parts.js';
import { listDefinitions, type ListName } from '../../engine/traces/model/list/definitions.js';
import { jobFields } from '../../engine/work/schema.js';
import { PLAN_LIFETIME_SECONDS } from './selected-deletion-plan.js';

const LIST_NAMES = Object.keys(listDefinitions) as ListName[];
const MAX_QUERY = 10_000;
const MAX_CONFIRM = 100_000;

export const DeletionInput = Type.Object(
  {
    dry_run: optional(Type.Boolean({ description: 'Count what the filters find, without deleting it.' })),
    list: optional(oneOf(LIST_NAMES, 'With `dry_run`: the list whose objects are to go, with everything below them.')),
    query: optional(
      Type.String({
        maxLength: MAX_QUERY,
        description:
          'With `dry_run`: filters of the list, as in its URL, such as `started_before=30d&tags.env=staging`. Default: everything.',
      }),
    ),
    confirm: optional(
      Type.String({ maxLength: MAX_CONFIRM, description: 'Delete what a dry run found: its `confirm`.' }),
    ),
  },
  { $id: 'DeletionInput', description: 'A dry run with `list` and `query`, or a `confirm` alone.' },
);
export type DeletionInput = Static<typeof DeletionInput>;

const found = {
  list: oneOf(LIST_NAMES, 'The list.'),
  query: Type.String({ description: 'The filters, as they were sent.' }),
  up_to: time('When the dry run was. Whatever was written later stays.'),
  traces: count('Traces that were found, or that hold what was.'),
  spans: count('Spans that were found, or are in what was.'),
  sessions: count('Sessions that were found, or that what was found belongs to.'),
  cost: orNull(Type.Number({ description: 'Known cost of what was found, in US dollars.' })),
  oldest_started_at: orNull(time('Earliest start of what was found.')),
  newest_started_at: orNull(time('Latest start of what was found.')),
};

export const DeletionPlanRead = Type.Object(
  {
    ...found,
    confirm: Type.String({
      description: `Send it to delete just that, within ${PLAN_LIFETIME_SECONDS / 60} minutes.`,
    }),
    expires_at: time('Until when it can be confirmed.'),
  },
  { $id: 'DeletionPlan', description: 'What a deletion would remove.' },
);
export type DeletionPlanRead = Static<typeof DeletionPlanRead>;

export const DeletionJobRead = Type.Object(
  {
    ...jobFields,
    ...found,
    total: orNull(count('Number of objects of the list that the dry run found; null before the job began.')),
    done: count('The same as `deleted`.'),
    deleted: count(
      'Number of objects of the list that are deleted. Those that changed after the dry run, or that another call deleted, are not counted.',
    ),
  },
  { $id: 'DeletionJob', description: 'A deletion of what filters found.' },
);
export type DeletionJobRead = Static<typeof DeletionJobRead>;
