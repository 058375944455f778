import type { JobHead } from '../../engine/work/job.js';
import type { SpanPlace, RepriceScope } from '../../engine/traces/model/prices/calculated-spans.js';

/** The kind of jobs that calculate stored costs again. */
export const REPRICE = 'reprice';

/** Checkpoint of a job that prices spans again. */
export interface RepriceCheckpoint {
  /** The last span that is done; null: none yet. */
  readonly after: SpanPlace | null;
  /** How many spans got another cost. */
  readonly changed: number;
}

export const NOTHING_DONE: RepriceCheckpoint = { after: null, changed: 0 };

/** A recalculation of stored costs. */
export interface RepriceJob extends JobHead {
  readonly scope: RepriceScope;
  /** How many spans got another cost. */
  readonly changed: number;
}
