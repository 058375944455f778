import type { PromptIdentity } from '../prompts/completion.js';
import type { Micros } from '../../../timestamp.js';
import type { JudgeFilters } from './filters.js';
import type { SpanPlace } from './span-reader.js';
import type { WholeKind } from './whole-reader.js';

/** Spans that a judge would have evaluated, had it been there: those that its feed would have taken. */
export interface MatchingSpans {
  /**
   * How many spans arrived after a moment that are finished, have content, are no call of the server itself and match the
   * filters; and where the latest of them are, by their start. Of another subject: how many traces or sessions such a span is
   * in, and the latest by it. Sees everything acknowledged before.
   * @param prompt what the filters' `prompt_slug` means; null: they have none
   * @throws DomainError `invalid` when the filters are too long for one question; `unavailable`
   */
  arrivedSince(projectId: string, wanted: Wanted, since: Micros, signal?: AbortSignal): Promise<Matches>;
}

export interface Wanted {
  /** What is counted; absent: spans. */
  readonly subject?: 'span' | WholeKind;
  /** When a trace or session is evaluated again: after each time without a matching span as long as `quiet`, so often at most. */
  readonly again?: { readonly quiet: Micros; readonly most: number };
  readonly filters: JudgeFilters;
  readonly prompt: PromptIdentity | null;
  /** How many of the latest to name. */
  readonly latest: number;
}

export interface Matches {
  readonly count: number;
  /** How many evaluations these would have had. */
  readonly evaluations: number;
  readonly latest: readonly SpanPlace[];
  /** Ids of the traces or sessions that `latest` are in, in the same order; none where spans are counted. */
  readonly wholes: readonly string[];
  /** The most frequent kinds of spans that all filters take but that of kinds; none where this takes any. */
  readonly otherKinds: readonly KindCount[];
}

/** How many spans there are of a kind. */
export interface KindCount {
  readonly kind: string;
  readonly spans: number;
}
