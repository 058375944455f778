import { DomainError, type Issue } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { newlyNamed, requireFit, requireNamed } from '../../engine/named/named-store.js';
import { invalid } from '../../engine/validation/validation.js';
import { DEFAULT_WINDOW, type Chart, type Dashboard, type DashboardStore } from './dashboard.js';
import {
  MAX_CHARTS_JSON,
  MAX_DASHBOARDS,
  type ChartInput,
  type DashboardInput,
  type DashboardPatch,
} from './schema.js';

const WHAT = 'dashboard';

export interface DashboardParts {
  readonly store: DashboardStore;
  readonly audit: AuditLog;
  /** A length of time as `:stats` takes it, in seconds; undefined: it takes no such length. */
  readonly secondsOf: (length: string) => number | undefined;
  /** What `:stats` would have against a chart, by the fields of the chart. */
  readonly chartIssues: (chart: Chart, windowSeconds: number) => readonly Issue[];
}

/** Charts of statistics under a name. Everything is inside the caller's project. */
export class DashboardService {
  readonly #parts: DashboardParts;

  constructor(parts: DashboardParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`; `conflict` with too many, or where another one has the name */
  create(by: Principal, { name, window, charts }: DashboardInput): Dashboard {
    const { store, audit } = this.#parts;
    const dashboard = this.#sound({
      ...newlyNamed(by, name),
      window: window ?? DEFAULT_WINDOW,
      charts: (charts ?? []).map(toChart),
      version: 1,
    });
    audit.together(() => {
      requireFit(store.insert(dashboard, MAX_DASHBOARDS), WHAT, MAX_DASHBOARDS);
      audit.done({ event: 'dashboardCreated', by, ...aboutOf(dashboard) });
    });
    return dashboard;
  }

  /** By name. */
  list(projectId: string): Dashboard[] {
    return this.#parts.store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): Dashboard {
    return requireNamed(this.#parts.store, projectId, id, WHAT);
  }

  /** @throws DomainError `not_found`, `invalid`; `conflict` where another one has the name, or where it was changed meanwhile */
  change(by: Principal, id: string, patch: DashboardPatch): Dashboard {
    const { store, audit } = this.#parts;
    return audit.together(() => {
      const known = this.get(by.project_id, id);
      if (patch.version != null && patch.version !== known.version)
        throw new DomainError(
          'conflict',
          `The dashboard has version ${known.version} by now, not ${patch.version}: read it again, then repeat your change`,
        );
      const dashboard = this.#sound({
        ...known,
        name: patch.name ?? known.name,
        window: patch.window ?? known.window,
        charts: patch.charts?.map(toChart) ?? known.charts,
        version: known.version + 1,
        updated_at: Date.now() * 1000,
      });
      requireFit(store.replace(dashboard), WHAT, MAX_DASHBOARDS);
      const changes = changesBetween<Dashboard>(known, dashboard, ['name', 'window', 'charts']);
      audit.done({ event: 'dashboardChanged', by, ...aboutOf(dashboard), changes });
      return dashboard;
    });
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, id: string): void {
    const { store, audit } = this.#parts;
    const dashboard = this.get(by.project_id, id);
    audit.together(() => {
      store.remove(by.project_id, dashboard.id);
      audit.done({ event: 'dashboardDeleted', by, ...aboutOf(dashboard) });
    });
  }

  /** What no schema says of a dashboard: what `:stats` would refuse is no chart. */
  issuesOf({ window, charts }: Pick<Dashboard, 'window' | 'charts'>): Issue[] {
    const { secondsOf, chartIssues } = this.#parts;
    const seconds = secondsOf(window);
    const isLong = JSON.stringify(charts).length > MAX_CHARTS_JSON;
    return [
      ...(seconds === undefined ? [{ pointer: '/window', detail: 'must be at most 3660 days' }] : []),
      ...(isLong ? [{ pointer: '/charts', detail: `must have at most ${MAX_CHARTS_JSON} characters as JSON` }] : []),
      ...charts.flatMap((chart, index) =>
        chartIssues(chart, seconds ?? 0).map(({ pointer, detail }) => ({
          pointer: `/charts/${index}${pointer}`,
          detail,
        })),
      ),
    ];
  }

  #sound(dashboard: Dashboard): Dashboard {
    const issues = this.issuesOf(dashboard);
    if (issues.length > 0) throw invalid(issues);
    return dashboard;
  }
}

function toChart({ title, list, query, measures, group_by, bucket, kind }: ChartInput): Chart {
  return { title, list, query: query ?? '', measures, group_by: group_by ?? null, bucket: bucket ?? null, kind };
}

function aboutOf({ id, project_id, name }: Dashboard) {
  return { project_id, subject_id: id, subject_name: name };
}
