import type { Micros } from '../../engine/timestamp.js';

/** Calls of models that neither a run nor an evaluation tells of: the deletion of their span finds them by these notes. */
export interface CallNotes {
  /** Notes calls about a span before they are made. @param runId see `callTraceId` */
  add(projectId: string, runId: string, spanId: string, at: Micros): void;
  /** Notes the traces that calls are about to show a model, beside the span. @returns whether they are noted: else nothing may be shown */
  addTraces(projectId: string, runId: string, traceIds: readonly string[]): boolean;
  /** Forgets calls that were not made. */
  remove(runId: string): void;
}
