import type { Micros } from '../../engine/timestamp.js';
import type { SpanPlace } from '../../engine/traces/model/judged/span-reader.js';

export type RunOrigin = 'automatic' | 'requested';
/** State of a run as stored; which of the queued runs are running is known to the runner alone. */
export type StoredRunState = 'queued' | 'failed';
export type RunState = StoredRunState | 'running';

/** An evaluation that is to be made, or could not be. */
export interface Run extends SpanPlace {
  /** Lower-case UUID; the evaluation gets the same id. */
  readonly id: string;
  readonly project_id: string;
  readonly judge_id: string;
  readonly origin: RunOrigin;
  /** The trace or session that it is about; null, or absent: the span itself. Until it is read, any span stands for it. */
  readonly subject_id?: string | null;
  /** The pinned version that it runs with; null: the one that the judge has then. */
  readonly pin?: number | null;
  readonly state: StoredRunState;
  /** Attempts that ended. */
  readonly attempts: number;
  readonly next_attempt_at: Micros;
  /** Why the last attempt failed. */
  readonly reason: string | null;
  readonly created_at: Micros;
  readonly updated_at: Micros;
}

/** A run as it is now: a queued one may be running. */
export interface CurrentRun extends Omit<Run, 'state'> {
  readonly state: RunState;
}

/** @param running ids of the runs that are running */
export function currentRun(run: Run, running: readonly string[]): CurrentRun {
  return running.includes(run.id) ? { ...run, state: 'running' } : run;
}

export interface RunDraft
  extends SpanPlace, Pick<Run, 'id' | 'project_id' | 'judge_id' | 'origin' | 'subject_id' | 'pin'> {
  /** When it is to be tried first; absent: at once. */
  readonly due_at?: Micros;
  /** Whose result it evaluates by the pin. */
  readonly experiment_id?: string | null;
}
