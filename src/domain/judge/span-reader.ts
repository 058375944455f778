import type { JudgeFilters } from './judge.js';
import type { SpanPlace } from './run.js';
import type { SpanStatus } from '../span/span.js';
import type { Tags } from '../schema/tags.js';
import type { Micros } from '../time/timestamp.js';

/** What the rules about which spans are judged look at. */
export interface SpanTraits {
  readonly id: string;
  readonly trace_id: string;
  readonly name: string;
  readonly kind: string;
  readonly started_at: Micros;
  /** When a client's last write of it was taken in. */
  readonly arrived_at: Micros;
  /** At least those that the filters ask for, and those by which calls of the server itself are known. */
  readonly tags: Tags;
  /** At least those that name a prompt. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether it has an end, a duration, an output or an error. */
  readonly finished: boolean;
  /** Whether it has an input or an output. */
  readonly has_content: boolean;
}

/** A text that may have been too long: what is there of it, and how long it was, in characters. */
export interface Excerpt {
  readonly text: string;
  readonly length: number;
}

/** A span as a judge gets to see it. */
export interface JudgedSpan extends SpanTraits {
  /** All of them, unless they are longer than the limit; then none. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: SpanStatus | null;
  readonly duration_ms: number | null;
  /** Null when there is none. A longer one has its middle left out, which its text says. */
  readonly input: Excerpt | null;
  readonly output: Excerpt | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/**
 * Reads of spans for judges. Of spans with one id in several traces the newest counts, where no trace is named.
 * @throws (from every method) DomainError `unavailable`
 */
export interface SpanReader {
  /** Those that are there, by span id; cheap. What was written within the last seconds it may see or not. */
  read(projectId: string, places: readonly SpanPlace[]): Promise<Map<string, JudgedSpan>>;
  /** Traits alone, by id alone, and seeing everything that was acknowledged before. @param filters to be matched */
  traits(
    projectId: string,
    ids: readonly string[],
    filters?: readonly JudgeFilters[],
  ): Promise<Map<string, SpanTraits>>;
  /** Resolves when the store answers, whatever the spans are. */
  answers(): Promise<void>;
  /** Whole spans, in the same way. */
  find(projectId: string, ids: readonly string[]): Promise<Map<string, JudgedSpan>>;
  /**
   * Traits of finished spans that match the filters, latest start first; calls of judges are left out. Of a prompt it only
   * sees to it that the attributes may name one. Sees everything that was acknowledged before.
   */
  newest(projectId: string, filters: JudgeFilters, limit: number, before?: SpanPlace | null): Promise<SpanTraits[]>;
}

/** What the feed asks for: spans that may match one of these. */
export interface ArrivalFilter {
  readonly judge_id: string;
  readonly filters: JudgeFilters;
  readonly sample_rate: number;
}

export type Arrival = SpanTraits;

/** A span of which nothing is read that may be large. */
export type ArrivalOutline = Pick<SpanTraits, 'id' | 'trace_id' | 'name' | 'kind' | 'started_at' | 'arrived_at'>;

export interface ArrivalPage {
  /** In the order of their arrival: every new span that matches, and perhaps others. Calls of judges are left out. */
  readonly spans: readonly Arrival[];
  /** All spans that arrived up to here are in this page or before it. */
  readonly upTo: Micros;
  /** Whether more has arrived. */
  readonly more: boolean;
}

export interface ArrivalNews {
  /** Null: any may be among them. */
  readonly projects: ReadonlySet<string> | null;
  /** Null: it is not known. */
  readonly upTo: Micros | null;
}

/** New spans in the order of their arrival. */
export interface Arrivals {
  /** The moment between what was acknowledged so far and what will arrive. */
  now(): Micros;
  /**
   * What arrived in a project after a moment: one page. It reads little and waits for nothing.
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
   * The first spans that arrived in a project after a moment, in their order: of each only what is always small. Where
   * spans cannot be read, it tells which there are.
   */
  outline(projectId: string, after: Micros, limit: number): Promise<ArrivalOutline[]>;
  /** The projects in which anything arrived after a moment, and up to when that is known. */
  news(after: Micros | null): Promise<ArrivalNews>;
  /** Calls back soon after spans arrived. */
  onArrival(listener: () => void): void;
}
