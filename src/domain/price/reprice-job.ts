import type { Micros } from '../time/timestamp.js';
import type { SpanPlace } from './calculated-spans.js';

export type RepriceStatus = 'queued' | 'running' | 'done' | 'failed';

/** Which spans a job is about. Bounds are inclusive; names are compared without regard to case. */
export interface RepriceScope {
  readonly started_after: Micros | null;
  readonly started_before: Micros | null;
  readonly provider: string | null;
  readonly model: string | null;
}

export interface RepriceProgress {
  readonly status: RepriceStatus;
  readonly total: number | null;
  readonly examined: number;
  readonly changed: number;
  /** The last span that is done; null: none yet. */
  readonly after: SpanPlace | null;
  readonly error: string | null;
  readonly finished_at: Micros | null;
}

export interface RepriceJob extends RepriceScope, RepriceProgress {
  readonly id: string;
  readonly project_id: string;
  readonly created_at: Micros;
}

/** Where jobs are kept, so that they outlive the process. Each call is atomic and durable once it returned. */
export interface RepriceStore {
  insert(job: RepriceJob): void;
  find(projectId: string, id: string): RepriceJob | undefined;
  /** Newest first. */
  list(projectId: string, limit: number): RepriceJob[];
  countUnfinished(projectId: string): number;
  /** The oldest job that is not finished of each project, in the order of the projects' ids. */
  next(): RepriceJob[];
  update(id: string, progress: RepriceProgress): void;
}
