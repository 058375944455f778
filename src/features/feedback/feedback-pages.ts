import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { StoredFeedback } from './feedback.js';
import type { Author } from './unified-items.js';

/** Feedback on a prompt that a list takes; null: any. */
export interface FeedbackFilter {
  /** When it was first given, both inclusive. */
  readonly start: Micros | null;
  readonly end: Micros | null;
  readonly thumbsUp: boolean | null;
  /** On completions themselves, or on judges' evaluations. */
  readonly source: 'human' | 'judge' | null;
  readonly judgeId: string | null;
  /** Name of who gave it. */
  readonly reviewer: string | null;
  /** Link by which it was given. */
  readonly linkId: string | null;
}

/** What feedback is on: completions of a prompt, or some spans of a project. */
export type FeedbackSubject =
  { readonly promptId: string } | { readonly projectId: string; readonly spanIds: readonly string[] };

/** The feedback that a list is made of, in one order: by when it was first given, ties by id. */
export interface FeedbackSelection {
  readonly subject: FeedbackSubject;
  readonly filter: FeedbackFilter;
  readonly descending: boolean;
}

/** Place of feedback in a list, and the completion that it is about. */
export type FeedbackPlace = Pick<StoredFeedback, 'id' | 'completion_id' | 'created_at'>;

/** Feedback, who gave it, and by which link, if by any. */
export interface AuthoredFeedback {
  readonly feedback: StoredFeedback;
  readonly author: Author;
  readonly link_id: string | null;
}

/** Feedback of a project by the order in which it first came. */
export interface FeedbackArrival {
  readonly id: string;
  /** Unique, and greater than those of all that came before. */
  readonly arrival: number;
  readonly matches: boolean;
}

/** A state of feedback of a project. */
export interface FeedbackVersion {
  readonly id: string;
  /** Greater than those of all states that were stored before. */
  readonly version: number;
  readonly matches: boolean;
}

/** Pages of the feedback on prompts. Each throws DomainError `unavailable`. */
export interface FeedbackPages {
  count(of: Pick<FeedbackSelection, 'subject' | 'filter'>): number;
  /** A page, and the number of all, of one moment. */
  page(of: FeedbackSelection, window: Window): { readonly places: FeedbackPlace[]; readonly total: number };
  /** What comes next behind a place; null: the first. */
  behind(of: FeedbackSelection, last: FeedbackPlace | null, limit: number): FeedbackPlace[];
  /**
   * What came before an arrival, the latest first, whether it matches or not: so no call looks at more.
   * @param before null: the latest
   */
  arrivals(
    projectId: string,
    of: { readonly promptId: string | null; readonly filter: FeedbackFilter },
    before: number | null,
    limit: number,
  ): FeedbackArrival[];
  /** The version of the newest state of any feedback. */
  version(): number;
  /** Feedback by the versions of its states, whether it matches or not: so no call looks at more. */
  versions(
    projectId: string,
    of: { readonly promptId: string | null; readonly filter: FeedbackFilter },
    range: { readonly after: number; readonly upTo: number },
    limit: number,
  ): FeedbackVersion[];
  /** Feedback that is there, by id. */
  read(ids: readonly string[]): Map<string, AuthoredFeedback>;
}
