import type { Micros } from '../../engine/timestamp.js';
import type { PromptIdentity } from '../../engine/traces/model/prompts/completion.js';
import { draftOf, isInTime, runsOfChanged, wholeDraft, type ChangedWholesParts } from './changed-wholes.js';
import { PAGE } from './feed-room.js';
import type { Judge } from './judge.js';
import { matchesListed, mismatches, type IdentifyPrompt } from './matching.js';
import { sampleHash } from '../../engine/traces/model/judged/sample.js';
import type { RunDraft } from './run.js';
import type { FailedDraft } from './run-store.js';
import type { Arrival, ArrivalFilter, ArrivalOutline, Arrivals } from '../../engine/traces/model/judged/span-reader.js';
import { unreadable } from './unreadable.js';
import { filtersOfSessions } from './whole-runs.js';

/** Result of looking at new spans: the runs to queue, and how far that is. */
export interface Look {
  readonly upTo: Micros;
  readonly drafts: readonly RunDraft[];
  /** Runs that have failed, as their span cannot be read. */
  readonly failed: readonly FailedDraft[];
  readonly more: boolean;
}

export interface FeedLaneOptions {
  readonly projectId: string;
  readonly arrivals: Pick<Arrivals, 'read' | 'outline'>;
  readonly identifyPrompt: IdentifyPrompt;
  /** Attempts at reading a span alone, before it is skipped. */
  readonly maxAttempts: number;
  /** What is known of traces and sessions. */
  readonly known: Omit<ChangedWholesParts, 'matches' | 'asksLater'>;
  /** The enabled judges that look together. */
  readonly judges: () => readonly Judge[];
  readonly spanNotRead: (failure: { readonly project: string; readonly span: string; readonly error: unknown }) => void;
}

/**
 * Looks at the new spans of one project for some of its judges. A page that cannot be read is halved, until the span that cannot be read is
 * alone: that span is skipped after some attempts, with a failed run for each judge that may be about it.
 */
export class FeedLane {
  readonly #options: FeedLaneOptions;
  /** Spans that are looked at together after a read that failed; null: as many as fit. */
  #narrow: number | null = null;
  /** The span that cannot be read alone, and how often it was tried. */
  #culprit: { readonly id: string; readonly attempts: number } | null = null;

  constructor(options: FeedLaneOptions) {
    this.#options = options;
  }

  /**
   * Looks at the next spans.
   * @param limit at how many
   * @param end none that arrived later
   * @throws the read's error
   */
  async look(position: Micros, limit: number, end: Micros): Promise<Look> {
    for (;;) {
      const look = await this.#once(position, limit, end);
      if (look !== null) return look;
    }
  }

  /** Looks once; null: to be repeated with fewer spans. */
  async #once(position: Micros, limit: number, end: Micros): Promise<Look | null> {
    const { projectId, arrivals, judges } = this.#options;
    const active = judges();
    if (active.length === 0) return { upTo: position, drafts: [], failed: [], more: false };
    const after = Math.max(position, Math.min(...active.map(({ judged_since }) => judged_since)));
    if (after >= end) return { upTo: end, drafts: [], failed: [], more: false };
    const outlines = this.#narrow === null ? null : await arrivals.outline(projectId, after, this.#narrow);
    const spans = outlines?.filter(({ arrived_at }) => arrived_at <= end) ?? null;
    const upTo = spans?.at(-1)?.arrived_at ?? end;
    try {
      const page = await arrivals.read(projectId, after, active.map(toFilter), limit, upTo);
      this.#narrow = this.#narrow === null || this.#narrow * 2 > PAGE ? null : this.#narrow * 2;
      // Judges may have changed meanwhile; one made meanwhile is about none of these spans.
      return { upTo: page.upTo, drafts: this.#drafts(page.spans, judges()), failed: [], more: page.more };
    } catch (error) {
      const failed = this.#failed(spans, error);
      return failed && { ...failed, more: true };
    }
  }

  /** Skips a span; null: look again at fewer spans. @throws the error when the same span is to be tried again */
  #failed(spans: readonly ArrivalOutline[] | null, error: unknown): Omit<Look, 'more'> | null {
    const [span, ...others] = spans ?? [];
    // No span is known to be there, so none is to blame.
    if (spans !== null && span === undefined) throw error;
    if (span === undefined || others.length > 0) {
      this.#narrow = Math.ceil((spans?.length ?? PAGE) / 2);
      return null;
    }
    const attempts = this.#culprit?.id === span.id ? this.#culprit.attempts + 1 : 1;
    this.#culprit = { id: span.id, attempts };
    const { maxAttempts, projectId, judges, spanNotRead } = this.#options;
    if (attempts < maxAttempts) throw error;
    this.#culprit = null;
    spanNotRead({ project: projectId, span: span.id, error });
    const reason = unreadable(error);
    const listed = judges().filter((judge) => matchesListed(span, judge.filters));
    const about = listed.filter((judge) => isOfSpans(judge) && mayBeAbout(judge, span));
    // Its trace may be read in spite of that: of it, little is read of each span.
    const traces = listed.filter(
      (judge) =>
        judge.subject === 'trace' && isInTime(judge, span) && sampleHash(span.trace_id, judge.id) < judge.sample_rate,
    );
    return {
      upTo: span.arrived_at,
      failed: about.map((judge) => ({ draft: draftOf(judge, span), reason })),
      drafts: traces.map((judge) => wholeDraft(judge, span.trace_id, span, span.arrived_at)),
    };
  }

  #drafts(spans: readonly Arrival[], judges: readonly Judge[]): RunDraft[] {
    const prompts = new Map<string, PromptIdentity | undefined>();
    const promptOf = ({ project_id, filters: { prompt_slug } }: Judge) => {
      if (prompt_slug === null) return undefined;
      if (!prompts.has(prompt_slug)) prompts.set(prompt_slug, this.#options.identifyPrompt(project_id, prompt_slug));
      return prompts.get(prompt_slug);
    };
    const matches = (span: Arrival, judge: Judge) => mismatches(span, judge.filters, promptOf(judge)).length === 0;
    const ofSpans = judges.filter(isOfSpans);
    const ofWholes = judges.filter((judge) => !isOfSpans(judge));
    const drafts = spans.flatMap((span) =>
      ofSpans.filter((judge) => mayBeAbout(judge, span) && matches(span, judge)).map((judge) => draftOf(judge, span)),
    );
    const { known, identifyPrompt } = this.#options;
    const asksLater = (judge: Judge) => filtersOfSessions(judge, identifyPrompt) != null;
    return [...drafts, ...runsOfChanged(spans, ofWholes, { matches, asksLater, ...known })];
  }
}

/** Whether the span came in the judge's time and is in its sample. */
function mayBeAbout(judge: Judge, span: ArrivalOutline): boolean {
  return isInTime(judge, span) && sampleHash(span.id, judge.id) < judge.sample_rate;
}

function toFilter({ id, subject, filters, sample_rate }: Judge): ArrivalFilter {
  return { judge_id: id, subject, filters, sample_rate };
}

function isOfSpans({ subject }: Judge): boolean {
  return subject === 'span';
}
