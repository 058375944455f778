import { Type, type Static } from '@sinclair/typebox';
import { optional, time as timeInput } from '../../engine/schema/inputs.js';
import { count, line, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { COMPARISONS, MONITOR_MEASURES, OPERATORS } from './condition.js';
import { MAX_SCORE_NAME } from '../../engine/traces/model/score/score.js';
import { WINDOWS } from './moments.js';

/** Most monitors of a project. */
export const MAX_MONITORS = 200;
const MAX_QUERY = 4_000;

const LISTS = ['spans', 'traces', 'sessions'] as const;
const STATES = ['ok', 'firing', 'no_data'] as const;
/** Larger numbers than any figure. */
const MAX_VALUE = 1e15;

const name = line(200, 'Name of the monitor.');
const list = oneOf(LISTS, 'The list to measure.');
const query = Type.String({
  maxLength: MAX_QUERY,
  description:
    'Filters of the list, as in its URL, such as `span_kind=llm&models=gpt-4o`; none by the start, which the window bounds. ' +
    'Verdicts and feedback are not filtered.',
});
const measure = oneOf(
  MONITOR_MEASURES,
  'What to measure: figures of `:stats`, the mean of a score (`score`), the share of evaluations that a judge passed ' +
    '(`judge_id`), or the share of positive feedback on spans.',
);
const score = line(MAX_SCORE_NAME, 'Name of the score, for `score_mean`.');
const judge_id = uuid('Id of the judge, for `judge_pass_rate`.');
const window_minutes = Type.Unsafe<number>({
  type: 'integer',
  enum: [...WINDOWS],
  description: 'Length of the window that each figure is about, in minutes. Longer windows are checked less often.',
});
const compared_with = oneOf(
  COMPARISONS,
  '`constant`: the threshold is a value of the measure. `previous_window`: it is a ratio of the value to that of the window before.',
);
const operator = oneOf(OPERATORS, 'Whether the monitor fires above or below the threshold.');
const value = (description: string) => Type.Number({ minimum: -MAX_VALUE, maximum: MAX_VALUE, description });
const threshold = value('The monitor fires beyond this value.');
const recovery_threshold = value('A monitor that fires recovers at this value, or on its other side.');
const minimum_count = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description:
    'With fewer objects, scores, evaluations or feedback in the window, there is no data, and the monitor stays as it is.',
});
const enabled = Type.Boolean({ description: 'Whether the monitor is checked.' });
const muted_until = timeInput('Until then, no destination is notified.');

const INPUT = {
  ...{ measure, window_minutes, operator, threshold },
  list: optional({ ...list, description: 'The list to measure. Default: spans.' }),
  query: optional(query),
  score: optional(score),
  judge_id: optional(judge_id),
  compared_with: optional(compared_with),
  recovery_threshold: optional({
    ...recovery_threshold,
    description: `${recovery_threshold.description ?? ''} Default: the threshold.`,
  }),
  minimum_count: optional({
    ...minimum_count,
    description: `${minimum_count.description ?? ''} Default: 1; 0 for sums and counts.`,
  }),
};

export const ConditionInput = Type.Object(INPUT, {
  $id: 'MonitorCondition',
  description: 'The condition of a monitor.',
});
export type ConditionInput = Static<typeof ConditionInput>;

export const MonitorInput = Type.Object(
  { name, ...INPUT, enabled: optional(enabled), muted_until: optional(muted_until) },
  { $id: 'MonitorInput', description: 'A new monitor.' },
);
export type MonitorInput = Static<typeof MonitorInput>;

export const MonitorPatch = Type.Object(
  {
    name: optional(name),
    condition: optional(ConditionInput),
    enabled: optional(enabled),
    muted_until: Type.Optional(orNull(muted_until)),
  },
  {
    $id: 'MonitorPatch',
    description:
      'What to change; absent fields stay. A new condition replaces the old one as a whole, and begins without a state.',
  },
);
export type MonitorPatch = Static<typeof MonitorPatch>;

export const MonitorRead = Type.Object(
  {
    id: uuid('Id of the monitor.'),
    ...{ name, list, query, measure },
    score: orNull(score),
    judge_id: orNull(judge_id),
    ...{ window_minutes, compared_with, operator, threshold, recovery_threshold, minimum_count, enabled },
    muted_until: orNull(time('Until then, no destination is notified; null: it is not muted.')),
    summary: Type.String({ description: 'The condition in words.' }),
    state: oneOf(
      STATES,
      '`no_data`: there is too little in the window, or it was not checked yet. `kept_state` applies again once there is data.',
    ),
    kept_state: orNull(oneOf(['ok', 'firing'], 'The last state that there was data for; null: none yet.')),
    since: time('Since when it has this state.'),
    checked_at: orNull(time('End of the window that was checked last; null: none since the server started.')),
    value: orNull(number('The figure of that window, or the ratio; null: nothing is known.')),
    count: orNull(count('How many objects, scores, evaluations or feedback it is about.')),
    error: orNull(Type.String({ description: 'Why the last check failed; null: it did not.' })),
    created_at: time('When the monitor was created.'),
    created_by: uuid('User who created it.'),
  },
  { $id: 'Monitor', description: 'A condition over figures, which is checked all the time.' },
);
export type MonitorRead = Static<typeof MonitorRead>;

export const StateChangeRead = Type.Object(
  {
    at: time('End of the window that changed the state.'),
    state: oneOf(STATES, 'The state from then on.'),
    value: orNull(number('The figure of that window; null: nothing was known.')),
    count: count('How many objects, scores, evaluations or feedback it was about.'),
  },
  { $id: 'MonitorChange', description: 'A change of the state of a monitor.' },
);
export type StateChangeRead = Static<typeof StateChangeRead>;

export const LookBackRead = Type.Object(
  {
    from: time('The first moment.'),
    to: time('The last moment.'),
    checks: count('How often it would have been checked.'),
    without_data: count('At how many checks there was no data.'),
    fired: count('How often it would have fired.'),
    changes: Type.Array(StateChangeRead, {
      description: 'The newest changes of its state, the newest first; at most 200.',
    }),
    points: Type.Array(
      Type.Object({
        at: time('Where a stretch of time begins.'),
        value: orNull(number('The worst figure in it; null: nothing is known.')),
      }),
      { description: 'The figures over time, for a chart; at most 360.' },
    ),
    summary: Type.String({ description: 'The condition in words.' }),
  },
  { $id: 'MonitorTest', description: 'What a condition would have done over the last 30 days.' },
);
export type LookBackRead = Static<typeof LookBackRead>;
