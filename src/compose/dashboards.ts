import { DomainError, type Issue } from '../engine/errors.js';
import { MAX_BUCKETS } from '../engine/traces/model/list/buckets.js';
import { joinValues } from '../engine/traces/model/list/comma-values.js';
import { sessionList, spanList, traceList } from '../engine/traces/model/list/definitions.js';
import { boundsStarts } from '../engine/traces/model/list/statistics.js';
import type { Chart } from '../features/dashboards/dashboard.js';
import { DashboardService } from '../features/dashboards/dashboard-service.js';
import { SavedViewService } from '../features/saved-views/saved-view-service.js';
import { parseSelection, parseSorted } from '../http/list-query.js';
import { statisticsQueries } from '../http/statistics-query.js';
import type { Storage } from './storage.js';

const LISTS = { spans: spanList, traces: traceList, sessions: sessionList } as const;

/** What the people of a project want to see again. */
export interface Dashboards {
  readonly savedViews: SavedViewService;
  readonly dashboards: DashboardService;
}

/** Saved views and dashboards, which the definitions of the lists and of their statistics check. */
export function openDashboards({ metadata, audit }: Pick<Storage, 'metadata' | 'audit'>): Dashboards {
  return {
    savedViews: new SavedViewService({
      store: metadata.savedViews,
      audit,
      queryIssues: (list, query) => issuesOf(() => parseSorted(LISTS[list], new URLSearchParams(query))),
    }),
    dashboards: new DashboardService({ store: metadata.dashboards, audit, secondsOf, chartIssues }),
  };
}

/** A length of time as `:stats` takes it, in seconds; undefined: it takes no such length. */
function secondsOf(length: string): number | undefined {
  try {
    return statisticsQueries.spans.parse(new URLSearchParams({ bucket: length })).bucketSeconds ?? undefined;
  } catch {
    return undefined;
  }
}

/** What `:stats` would have against a chart, by the fields of the chart. */
function chartIssues(
  { list, query, measures, group_by, bucket }: Omit<Chart, 'title' | 'kind'>,
  windowSeconds: number,
): Issue[] {
  const own = new URLSearchParams({ measures: joinValues(measures) });
  if (group_by !== null) own.set('group_by', group_by);
  if (bucket !== null) own.set('bucket', bucket);
  const buckets = bucket === null ? 0 : windowSeconds / (secondsOf(bucket) ?? Infinity);
  return [
    ...selectionIssues(list, query),
    ...issuesOf(() => statisticsQueries[list].parse(own)).map(({ pointer, detail }) => ({
      pointer: pointer.replace('?', '/'),
      detail,
    })),
    ...(buckets > MAX_BUCKETS
      ? [{ pointer: '/bucket', detail: `must be so long that the window has at most ${MAX_BUCKETS} buckets` }]
      : []),
  ];
}

function selectionIssues(list: Chart['list'], query: string): Issue[] {
  let isBounded = false;
  const found = issuesOf(() => {
    isBounded = boundsStarts(parseSelection(LISTS[list], new URLSearchParams(query)));
  });
  const bounded = { pointer: '/query', detail: 'must not filter by the start: the window does' };
  const inQuery = found.map(({ pointer, detail }) => ({ pointer: '/query', detail: `${pointer} ${detail}` }));
  return isBounded ? [bounded, ...inQuery] : inQuery;
}

/** What a query is refused for. */
function issuesOf(parse: () => unknown): readonly Issue[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') return error.issues;
    throw error;
  }
}
