import type { JudgeFilters } from './filters.js';
import type { JudgedWhole, WholeKind } from './whole.js';
import type { SpanStatus } from '../span/span.js';
import type { Tags } from '../../../schema/tags.js';
import type { Micros } from '../../../timestamp.js';

/** Fields of a span by which it is decided whether to judge it. */
export interface SpanTraits {
  readonly id: string;
  readonly trace_id: string;
  readonly name: string;
  readonly kind: string;
  readonly started_at: Micros;
  /** When the last write of the span by a client was taken in. */
  readonly arrived_at: Micros;
  /** Tags: at least those that the filters ask for, and those by which calls of the server itself are known. */
  readonly tags: Tags;
  /** The experiment that the span is of; null: none. */
  readonly experiment_id: string | null;
  /** The row whose result it is; null, or absent: it is no result. */
  readonly row_id?: string | null;
  /** Attributes: at least those that name a prompt. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether the span has an end, a duration, an output or an error. */
  readonly finished: boolean;
  /** Whether the span has an input or an output. */
  readonly has_content: boolean;
}

/** A text, cut when it was too long, and its length before that, in characters. */
export interface Excerpt {
  readonly text: string;
  readonly length: number;
}

/** A span as a judge gets to see it. */
export interface JudgedSpan extends SpanTraits {
  /** All attributes, unless they are longer than the limit; then none. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: SpanStatus | null;
  readonly duration_ms: number | null;
  /** Input; null when there is none. The middle of a long one is left out, which the text says. */
  readonly input: Excerpt | null;
  readonly output: Excerpt | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  /** The span whose output it has, as a result that only names the trace in which it was made; absent: it has its own, or none. */
  readonly shows?: { readonly span_id: string; readonly trace_id: string };
  /** The trace or session that this span stands for, which is what is judged; null, or absent: the span itself is. */
  readonly whole?: JudgedWhole | null;
}

/**
 * Reads of spans for judges. Of spans with one id in several traces the newest counts, where no trace is named.
 * @throws (from every method) DomainError `unavailable`
 */
export interface SpanReader {
  /**
   * Spans that are there, by span id; cheap. Writes of the last seconds may be missing. Results that only name a trace have the output of
   * that.
   */
  read(projectId: string, places: readonly SpanPlace[]): Promise<Map<string, JudgedSpan>>;
  /**
   * Traits of spans by their ids; sees everything that was acknowledged before. Of a result that only names a trace, those by which the
   * output of that counts as its own. @param filters to be matched
   */
  traits(
    projectId: string,
    ids: readonly string[],
    filters?: readonly JudgeFilters[],
  ): Promise<Map<string, SpanTraits>>;
  /** Resolves when the store answers, whatever the spans are. */
  answers(): Promise<void>;
  /** Whole spans by their ids; sees everything that was acknowledged before. */
  find(projectId: string, ids: readonly string[]): Promise<Map<string, JudgedSpan>>;
  /** The same as judges are shown them: results that only name a trace have the output of that. */
  shown(projectId: string, ids: readonly string[]): Promise<Map<string, JudgedSpan>>;
  /**
   * Traits of finished spans that match the filters, latest start first; calls of judges are left out. For
   * a filter by prompt, the attributes may name one; which is left to the caller. Sees everything acknowledged before.
   */
  newest(projectId: string, filters: JudgeFilters, limit: number, before?: SpanPlace | null): Promise<SpanTraits[]>;
}

/** Filter of new spans for one judge. */
export interface ArrivalFilter {
  readonly judge_id: string;
  /** Of a trace or session, any span may be a change: then every new span is wanted. */
  readonly subject: 'span' | WholeKind;
  readonly filters: JudgeFilters;
  readonly sample_rate: number;
}

export interface Arrival extends SpanTraits {
  /**
   * The session of its trace, where a filter is about sessions; else the one that the span itself names. Null: none. The trace's
   * is the one that lists and reads of the session go by.
   */
  readonly session_id: string | null;
}

/** A span without any field that may be large. */
export type ArrivalOutline = Pick<SpanTraits, 'id' | 'trace_id' | 'name' | 'kind' | 'started_at' | 'arrived_at'>;

export interface ArrivalPage {
  /**
   * Every new span that matches, and perhaps others, in the order of arrival. Calls of judges are left out. Where a filter is
   * about traces or sessions: every new span that is finished and has content.
   */
  readonly spans: readonly Arrival[];
  /** All spans that arrived up to here are in this page or before it. */
  readonly upTo: Micros;
  /** Whether more spans have arrived. */
  readonly more: boolean;
}

export interface ArrivalNews {
  /** Projects with new spans; null: it may be any. */
  readonly projects: ReadonlySet<string> | null;
  /** Moment up to which `projects` is complete; null: not known. */
  readonly upTo: Micros | null;
}

/** New spans in the order of their arrival. */
export interface Arrivals {
  /** The moment between what was acknowledged so far and what will arrive. */
  now(): Micros;
  /**
   * One page of the spans that arrived in a project after a moment. Reads little and waits for nothing.
   * @param upTo nothing that arrived later is looked at
   * @throws DomainError `unavailable`
   */
  read(
    projectId: string,
    after: Micros,
    filters: readonly ArrivalFilter[],
    limit: number,
    upTo?: Micros,
  ): Promise<ArrivalPage>;
  /**
   * Outlines of the first spans that arrived in a project after a moment, in their order: where whole spans cannot be
   * read, outlines tell which there are.
   */
  outline(projectId: string, after: Micros, limit: number): Promise<ArrivalOutline[]>;
  /** The projects in which anything arrived after a moment, and up to when that is known. */
  news(after: Micros | null): Promise<ArrivalNews>;
  /** Calls back soon after spans arrived. */
  onArrival(listener: () => void): void;
}

/** Key of a span in the store. */
export interface SpanPlace {
  readonly span_id: string;
  readonly trace_id: string;
  readonly span_started_at: Micros;
}
