import { DomainError } from '../../engine/errors.js';
import type { Project } from '../../engine/identity/identity.js';
import type { Micros } from '../../engine/timestamp.js';
import type { BelievedClock } from './believed-clock.js';
import {
  EXAMINED_AT_ONCE,
  SOUGHT_AT_ONCE,
  type OldTraces,
  type TraceCount,
} from '../../engine/traces/model/retention/old-traces.js';
import type { SpansWithFeedback } from './spans-with-feedback.js';
import { oldBefore } from './retention-pass.js';

/** What would go of a project if it kept its traces for so many days. */
export interface RetentionForecast {
  /** What is set. */
  readonly retention_days: number | null;
  /** What was asked about; null: everything is kept. */
  readonly days: number | null;
  /** Traces in which nothing is as new as this go. */
  readonly before: Micros | null;
  readonly going: TraceCount & { readonly estimatedBytes: number };
  readonly kept: { readonly tagged: TraceCount; readonly withFeedback: TraceCount };
  readonly nextRunAt: Micros | null;
  /** How far the clock is ahead of the time that can be accounted for, for which reason nothing goes; 0: it is believed. */
  readonly clockAheadSeconds: number;
}

export interface RetentionServiceParts {
  readonly projects: { findProject(id: string): Project | undefined };
  readonly traces: OldTraces;
  readonly feedback: SpansWithFeedback;
  /** Bytes of a project's spans on disk. */
  readonly spanBytes: (projectId: string, signal?: AbortSignal) => Promise<number>;
  readonly nextRunAt: () => Micros | null;
  readonly clock: Pick<BelievedClock, 'state'>;
}

const NONE: TraceCount = { traces: 0, spans: 0 };

/** Says what retention removes before it does. */
export class RetentionService {
  readonly #parts: RetentionServiceParts;

  constructor(parts: RetentionServiceParts) {
    this.#parts = parts;
  }

  /**
   * @param asked days; absent: what is set
   * @throws DomainError `not_found`, `unavailable`
   */
  async forecast(projectId: string, asked?: number, signal?: AbortSignal): Promise<RetentionForecast> {
    const { projects, traces, spanBytes, nextRunAt, clock } = this.#parts;
    const project = projects.findProject(projectId);
    if (project === undefined) throw new DomainError('not_found', 'There is no project with this id');
    const days = asked ?? project.retention_days;
    const clockAheadSeconds = Math.round(clock.state.ahead / 1e6);
    const set = { retention_days: project.retention_days, days, nextRunAt: nextRunAt(), clockAheadSeconds };
    if (days === null)
      return {
        ...set,
        before: null,
        going: { ...NONE, estimatedBytes: 0 },
        kept: { tagged: NONE, withFeedback: NONE },
      };
    const before = oldBefore(days, Date.now() * 1000);
    const { old, tagged, allSpans } = await traces.count(projectId, before, signal);
    const withFeedback = await this.#withFeedback(projectId, before, signal);
    // What is counted one after the other may change in between.
    const rest = (of: keyof TraceCount) => Math.max(0, old[of] - tagged[of] - withFeedback[of]);
    const spans = rest('spans');
    const bytes = await spanBytes(projectId, signal);
    const estimatedBytes = allSpans === 0 ? 0 : Math.round((bytes * spans) / allSpans);
    const going = { traces: rest('traces'), spans, estimatedBytes };
    return { ...set, before, going, kept: { tagged, withFeedback } };
  }

  /** Old traces that only feedback keeps. */
  async #withFeedback(projectId: string, before: Micros, signal?: AbortSignal): Promise<TraceCount> {
    const { traces } = this.#parts;
    const ids = [...(await this.#tracesWithFeedback(projectId, before, signal))];
    let found = NONE;
    for (let from = 0; from < ids.length; from += EXAMINED_AT_ONCE) {
      const part = ids.slice(from, from + EXAMINED_AT_ONCE);
      const { old } = await traces.examine(projectId, part, before, signal);
      for (const { spans, tagged } of old)
        if (!tagged) found = { traces: found.traces + 1, spans: found.spans + spans };
    }
    return found;
  }

  async #tracesWithFeedback(projectId: string, before: Micros, signal?: AbortSignal): Promise<ReadonlySet<string>> {
    const { traces, feedback } = this.#parts;
    const found = new Set<string>();
    for (let after = '', more = true; more;) {
      const spanIds = feedback.page(projectId, after, SOUGHT_AT_ONCE);
      if (spanIds.length > 0) for (const id of await traces.tracesOf(projectId, spanIds, before, signal)) found.add(id);
      after = spanIds.at(-1) ?? after;
      more = spanIds.length === SOUGHT_AT_ONCE;
    }
    return found;
  }
}
