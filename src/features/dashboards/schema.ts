import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, line, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MAX_MEASURES } from '../../engine/traces/model/list/statistics.js';
import { CHART_KINDS, DEFAULT_WINDOW } from './dashboard.js';

/** Most dashboards of a project, and charts of a dashboard. */
export const MAX_DASHBOARDS = 100;
export const MAX_CHARTS = 30;
/** Longest JSON of all charts of a dashboard, in characters. */
export const MAX_CHARTS_JSON = 65_536;
const MAX_QUERY = 4_000;
const MAX_NAME_OF_VALUE = 1_100;
const MAX_VERSION = 2 ** 31;

const LISTS = ['spans', 'traces', 'sessions'] as const;

const name = line(200, 'Name of the dashboard; no other dashboard of the project has it.');
const window = Type.String({
  pattern: '^[1-9][0-9]{0,3}[mhdw]$',
  'x-must': 'be a length of time such as 15m, 24h, 7d or 4w',
  description: 'How far back the charts look, such as `24h` or `7d`. The console can show another time.',
});
const version = Type.Integer({ minimum: 1, maximum: MAX_VERSION, description: 'Grows by one with each change.' });

const title = line(200, 'Title of the chart.');
const list = oneOf(LISTS, 'The list whose `:stats` are drawn.');
const query = Type.String({
  maxLength: MAX_QUERY,
  description:
    'Filters of the list, as in its URL, such as `span_kind=llm&models=gpt-4o`; none by the start, which the window bounds.',
});
const measures = Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_OF_VALUE }), {
  minItems: 1,
  maxItems: MAX_MEASURES,
  uniqueItems: true,
  description: 'Measures of `:stats`: `count`, `errors`, `cost`, `duration`, `tokens` or `scores.<name>`.',
});
const group_by = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_OF_VALUE,
  description: 'What `:stats` groups by: a field, `tags.<key>` or `scores.<name>`.',
});
const bucket = Type.String({
  minLength: 1,
  maxLength: 10,
  description: 'Length of the buckets of time, such as `1h` or `1d`.',
});
const kind = oneOf(
  CHART_KINDS,
  '`lines` and `bars` over time, a `number` for each measure, or a `table` of the groups.',
);

const GROUPED = `${group_by.description ?? ''} null: nothing.`;
const BUCKETED = `${bucket.description ?? ''} null: by the window.`;

export const ChartInput = Type.Object(
  {
    ...{ title, list, measures, kind },
    query: optional({ ...query, description: `${query.description ?? ''} Default: everything.` }),
    group_by: Type.Optional(orNull({ ...group_by, description: GROUPED })),
    bucket: Type.Optional(orNull({ ...bucket, description: BUCKETED })),
  },
  { $id: 'ChartInput', description: 'A chart: what `:stats` is asked for, and how the answer is drawn.' },
);
export type ChartInput = Static<typeof ChartInput>;

const inputs = Type.Array(ChartInput, {
  maxItems: MAX_CHARTS,
  description: `The charts, in the order in which they are shown; as JSON, at most ${MAX_CHARTS_JSON} characters.`,
});

export const DashboardInput = Type.Object(
  {
    name,
    window: optional({ ...window, description: `${window.description ?? ''} Default: \`${DEFAULT_WINDOW}\`.` }),
    charts: optional({ ...inputs, description: `${inputs.description ?? ''} Default: none.` }),
  },
  { $id: 'DashboardInput', description: 'A new dashboard.' },
);
export type DashboardInput = Static<typeof DashboardInput>;

export const DashboardPatch = Type.Object(
  {
    name: optional(name),
    window: optional(window),
    charts: optional(inputs),
    version: optional({
      ...version,
      description: 'The version that you changed. If the dashboard has another one by now, nothing changes (409).',
    }),
  },
  {
    $id: 'DashboardPatch',
    description: 'What to change; absent fields stay. `charts` replaces all charts.',
  },
);
export type DashboardPatch = Static<typeof DashboardPatch>;

export const ChartRead = Type.Object(
  {
    ...{ title, list, query, measures },
    group_by: orNull({ ...group_by, description: GROUPED }),
    bucket: orNull({ ...bucket, description: BUCKETED }),
    kind,
  },
  { $id: 'Chart', description: 'A chart: what `:stats` is asked for, and how the answer is drawn.' },
);

/** What a dashboard shows, as answers and exports have it. */
export const DASHBOARD_FIELDS = {
  ...{ name, window },
  charts: Type.Array(ChartRead, {
    maxItems: MAX_CHARTS,
    description: 'The charts, in the order in which they are shown.',
  }),
  version,
};

const since = {
  created_at: time('When the dashboard was created.'),
  created_by: uuid('User who created it.'),
  updated_at: time('When it was last changed.'),
};
const id = uuid('Id of the dashboard.');

export const DashboardRead = Type.Object(
  { id, ...DASHBOARD_FIELDS, ...since },
  { $id: 'Dashboard', description: 'Charts of statistics under a name.' },
);
export type DashboardRead = Static<typeof DashboardRead>;

export const DashboardSummary = Type.Object(
  { id, ...{ name, window }, chart_count: count('How many charts it has.'), version, ...since },
  { $id: 'DashboardSummary', description: 'A dashboard without its charts.' },
);
export type DashboardSummary = Static<typeof DashboardSummary>;
