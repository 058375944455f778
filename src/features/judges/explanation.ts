import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import type { Mismatch } from './matching.js';
import { currentRun, type CurrentRun, type Run } from './run.js';
import type { ANSWERS } from './run-schema.js';
import type { RunStore } from './run-store.js';

type Answer = (typeof ANSWERS)[number];
export type Reason = readonly [answer: Answer, explanation: string];

/** Why a span, trace or session was or was not evaluated by a judge, with what that rests on. */
export interface Explanation {
  readonly judge_id: string;
  readonly span_id: string;
  /** The trace or session that it is about; null: the span. */
  readonly subject_id: string | null;
  readonly answer: Answer;
  /** The answer in a sentence. */
  readonly explanation: string;
  /** Its newest evaluation. */
  readonly evaluation_id: string | null;
  readonly run: CurrentRun | null;
  /** How many runs are queued before it; null unless it is queued. */
  readonly position: number | null;
  /** Empty when the span matches or was not found, and for a trace or session. */
  readonly mismatches: readonly Mismatch[];
  readonly sample: { readonly hash: number; readonly rate: number; readonly included: boolean };
}

export interface ReasonsParts {
  readonly judges: Pick<JudgeService, 'notRunnableReason'>;
  readonly runs: Pick<RunStore, 'before' | 'position'>;
  readonly running: () => readonly string[];
}

/** Something that arrived, as an explanation names it. */
export interface Arrived {
  /** As in "The span". */
  readonly what: string;
  readonly at: Micros;
  /** As in "spans". */
  readonly many: string;
}

/** Reasons that hold for whatever a judge evaluates. */
export class Reasons {
  readonly #parts: ReasonsParts;

  constructor(parts: ReasonsParts) {
    this.#parts = parts;
  }

  /** A run as it is now, and how many are before it. */
  current(stored: Run | undefined): { readonly run: CurrentRun | null; readonly position: number | null } {
    const run = stored && currentRun(stored, this.#parts.running());
    const position = stored !== undefined && run?.state === 'queued' ? this.#parts.runs.before(stored) : null;
    return { run: run ?? null, position };
  }

  ofRun(judge: Judge, run: CurrentRun, position: number | null): Reason {
    if (run.state === 'running') return ['running', 'The model is processing it now.'];
    const notRunnableReason = this.#parts.judges.notRunnableReason(judge);
    if (run.state === 'queued' && notRunnableReason?.kind === 'no_endpoint')
      return ['no_endpoint', `It is queued. ${notRunnableReason.text}.`];
    const attempts = run.attempts === 0 ? '' : ` ${run.attempts} attempts failed, most recently: ${run.reason ?? ''}.`;
    const isSaid = notRunnableReason?.kind === 'key_refused' || notRunnableReason?.kind === 'budget_spent';
    const refused = isSaid ? ` ${notRunnableReason.text}.` : '';
    if (run.state === 'queued')
      return [
        'queued',
        `It is queued behind ${position ?? 0} others of its project; next attempt at ${formatTimestamp(run.next_attempt_at)}.${attempts}${refused}`,
      ];
    return ['failed', `It failed permanently at ${formatTimestamp(run.updated_at)}: ${run.reason ?? ''}`];
  }

  notRunning(judge: Judge, { what, at, many }: Arrived): Reason | undefined {
    const notRunnableReason = this.#parts.judges.notRunnableReason(judge);
    if (notRunnableReason?.kind === 'no_endpoint')
      return ['no_endpoint', `${notRunnableReason.text}; no judge can run.`];
    if (!judge.enabled) return ['judge_disabled', `The judge is disabled: it does not evaluate ${many} automatically.`];
    const [arrived, since] = [formatTimestamp(at), formatTimestamp(judge.judged_since)];
    if (at <= judge.judged_since)
      return [
        'arrived_before',
        `${what} arrived at ${arrived}, before the judge was created or last enabled at ${since}. Use a run call to evaluate older ${many}.`,
      ];
    const began = this.#parts.runs.position(judge.project_id)?.began_at ?? Infinity;
    if (at <= began)
      return [
        'not_running_then',
        `${what} arrived at ${arrived}, while no judge could run. Use a run call to evaluate older ${many}.`,
      ];
    return undefined;
  }

  ofFeed(judge: Judge, { what, at }: Arrived, hash: number): Reason {
    if (hash >= judge.sample_rate)
      return ['sampled_out', `Its hash ${hash} is not below the sample rate ${judge.sample_rate}.`];
    const looked = this.#parts.runs.position(judge.project_id);
    const seen = looked?.behind[judge.id] ?? looked?.arrived_at ?? 0;
    const arrived = formatTimestamp(at);
    if (at > seen)
      return [
        'pending',
        `${what} arrived at ${arrived} and is not checked yet: that takes about one second, longer while the queue is full.`,
      ];
    return [
      'changed_since',
      `${what} matches now, but was checked soon after ${arrived}. Since then the judge was changed (last at ${formatTimestamp(judge.updated_at)}), or its failure record has expired.`,
    ];
  }
}

export function evaluated(at: Micros): Reason {
  return ['evaluated', `It was evaluated at ${formatTimestamp(at)}.`];
}

export function notFound(kind: Judge['subject']): Reason {
  return ['not_found', `There is no ${kind} with this id; it may not have arrived yet.`];
}
