import { DomainError, type Issue } from '../engine/errors.js';
import { MAX_BUCKETS } from '../engine/traces/model/list/buckets.js';
import { joinValues } from '../engine/traces/model/list/comma-values.js';
import { listDefinitions } from '../engine/traces/model/list/definitions.js';
import { boundsStarts } from '../engine/traces/model/list/statistics.js';
import type { Chart } from '../features/dashboards/dashboard.js';
import { DashboardService } from '../features/dashboards/dashboard-service.js';
import { SavedViewService } from '../features/saved-views/saved-view-service.js';
import { parseSelection, parseSorted } from '../http/list-query.js';
import { statisticsQueries } from '../http/statistics-query.js';
import type { Storage } from './storage.js';

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
      queryIssues: (list, query) =>
        attempt(() => parseSorted(listDefinitions[list], new URLSearchParams(query))).issues,
    }),
    dashboards: new DashboardService({ store: metadata.dashboards, audit, secondsOf, chartIssues }),
  };
}

/** A length of time as `:stats` takes it, in seconds; undefined: it takes no such length. */
function secondsOf(length: string): number | undefined {
  const bucket = new URLSearchParams({ bucket: length });
  return attempt(() => statisticsQueries.spans.parse(bucket)).value?.bucketSeconds ?? undefined;
}

/** What `:stats` would have against a chart, by the fields of the chart. */
function chartIssues({ list, query, measures, group_by, bucket }: Chart, windowSeconds: number): Issue[] {
  const own = new URLSearchParams({ measures: joinValues(measures) });
  if (group_by !== null) own.set('group_by', group_by);
  if (bucket !== null) own.set('bucket', bucket);
  const { value: asked, issues } = attempt(() => statisticsQueries[list].parse(own));
  const buckets = windowSeconds / (asked?.bucketSeconds ?? Infinity);
  const tooMany = { pointer: '/bucket', detail: `must be so long that the window has at most ${MAX_BUCKETS} buckets` };
  return [
    ...selectionIssues(list, query),
    ...issues.map(({ pointer, detail }) => ({ pointer: pointer.replace('?', '/'), detail })),
    ...(buckets > MAX_BUCKETS ? [tooMany] : []),
  ];
}

function selectionIssues(list: Chart['list'], query: string): Issue[] {
  const { value: selected, issues } = attempt(() => parseSelection(listDefinitions[list], new URLSearchParams(query)));
  if (selected !== undefined && boundsStarts(selected))
    return [{ pointer: '/query', detail: 'must not filter by the start: the window does' }];
  return issues.map(({ pointer, detail }) => ({ pointer: '/query', detail: `${pointer} ${detail}` }));
}

/** What is read, or why it is refused. */
function attempt<T>(read: () => T): { readonly value?: T; readonly issues: readonly Issue[] } {
  try {
    return { value: read(), issues: [] };
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') return { issues: error.issues };
    throw error;
  }
}
