import type { Metrics } from '../metrics.js';
import { ProjectSeries, type ModelSum } from '../project-series.js';

/** What is stored by project and model, where an operator wants to know. */
export function deriveProjects(metrics: Metrics) {
  const series = new ProjectSeries(metrics);
  return {
    /** @param max pairs of project and model that have series of their own; 0: nothing is counted */
    projectSeriesOpened: (max: number, isGone: (projectId: string) => boolean) => series.open(max, isGone),
    /** Spans of a project were acknowledged. */
    modelsCounted: ({ projectId, sums }: { readonly projectId: string; readonly sums: readonly ModelSum[] }) =>
      series.add(projectId, sums),
    /** A project is deleted. */
    projectSeriesEnded: (projectId: string) => series.forget(projectId),
  };
}
