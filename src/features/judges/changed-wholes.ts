import { randomUUID } from 'node:crypto';
import type { Micros } from '../../engine/timestamp.js';
import { sampleHash } from '../../engine/traces/model/judged/sample.js';
import type { Arrival, ArrivalOutline } from '../../engine/traces/model/judged/span-reader.js';
import type { Judge } from './judge.js';
import { neverEvaluated } from './matching.js';
import type { RunDraft } from './run.js';
import { MAX_AUTOMATIC, quietOf } from './whole-settings.js';

export interface ChangedWholesParts {
  readonly matches: (span: Arrival, judge: Judge) => boolean;
  /** Whether a judge asks once more, of a whole session, if a span of it matches. */
  readonly asksLater: (judge: Judge) => boolean;
  /** How many evaluations of a trace or session a judge made by itself, counted up to so many. */
  readonly evaluations: (judgeId: string, subjectId: string, most: number) => number;
  /** Whether a judge is about to evaluate a trace or session by itself. */
  readonly isQueued: (judgeId: string, subjectId: string) => boolean;
}

/** A trace or session with new spans. */
interface Change {
  /** The first new span that matches, else the first one. */
  readonly span: Arrival;
  readonly matches: boolean;
  /** When the last of them arrived. */
  readonly arrived_at: Micros;
}

/**
 * Runs of judges of traces or sessions that new spans call for: each is due once its trace or session may be quiet. One with a
 * span that matches is evaluated; after that, any span is a change.
 */
export function runsOfChanged(
  spans: readonly Arrival[],
  judges: readonly Judge[],
  parts: ChangedWholesParts,
): RunDraft[] {
  const usual = spans.filter((span) => span.experiment_id === null && neverEvaluated(span) === null);
  return judges.flatMap((judge) => {
    const changes = [...changesOf(judge, usual, parts)];
    const takesAny = changes.length > 0 && parts.asksLater(judge);
    return changes
      .filter(([id, { matches }]) => {
        const made = parts.evaluations(judge.id, id, MAX_AUTOMATIC);
        // What is being evaluated for the first time may change meanwhile.
        return made === 0 ? takesAny || matches || parts.isQueued(judge.id, id) : made < MAX_AUTOMATIC;
      })
      .map(([id, change]) => wholeDraft(judge, id, change.span, change.arrived_at));
  });
}

function changesOf(judge: Judge, spans: readonly Arrival[], { matches }: ChangedWholesParts): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const span of spans) {
    const id = judge.subject === 'trace' ? span.trace_id : span.session_id;
    if (id === null || !isInTime(judge, span) || sampleHash(id, judge.id) >= judge.sample_rate) continue;
    const known = changes.get(id);
    const arrived_at = Math.max(span.arrived_at, known?.arrived_at ?? 0);
    const changed = known?.matches === true ? known : { span, matches: matches(span, judge) };
    changes.set(id, known !== undefined && !changed.matches ? { ...known, arrived_at } : { ...changed, arrived_at });
  }
  return changes;
}

/** Whether the span came in the judge's time. */
export function isInTime({ judged_since }: Judge, { arrived_at }: ArrivalOutline): boolean {
  return arrived_at > judged_since;
}

/** @param span any span of the trace or session */
export function wholeDraft(judge: Judge, subject_id: string, span: ArrivalOutline, arrivedAt: Micros): RunDraft {
  return { ...draftOf(judge, span), subject_id, due_at: Math.min(arrivedAt, Date.now() * 1000) + quietOf(judge) };
}

export function draftOf(judge: Judge, span: ArrivalOutline): RunDraft {
  return {
    id: randomUUID(),
    project_id: judge.project_id,
    judge_id: judge.id,
    span_id: span.id,
    trace_id: span.trace_id,
    span_started_at: span.started_at,
    origin: 'automatic',
  };
}
