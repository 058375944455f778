import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';

/** Most comments on a trace, those on its spans among them. */
export const MAX_COMMENTS = 1_000;
/** Most comments of a project. */
export const MAX_COMMENTS_OF_PROJECT = 100_000;
/** Longest comment, in characters. */
export const MAX_COMMENT = 10_000;

/** What somebody says about a trace, or about a span of it, to the others who read it. */
export interface Comment {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly trace_id: string;
  /** Null: it is about the whole trace. */
  readonly span_id: string | null;
  readonly user_id: string;
  readonly user_name: string;
  /** Markdown. */
  readonly text: string;
  readonly created_at: Micros;
  /** Null: never. */
  readonly edited_at: Micros | null;
}

export interface CommentDraft extends Omit<Comment, 'user_name' | 'edited_at'> {
  readonly after_deletion: number;
}

/** How many comments there may be. */
export interface CommentBounds {
  readonly ofTrace: number;
  readonly ofProject: number;
}

/** Comments of a trace. Each write is durable when it returns. Throws DomainError `unavailable`. */
export interface CommentStore {
  /** @returns the bound that is met; null: it is stored */
  insert(draft: CommentDraft, most: CommentBounds): keyof CommentBounds | null;
  find(projectId: string, id: string): Comment | undefined;
  /** The oldest first. @param spanId only those about this span */
  list(projectId: string, traceId: string, spanId: string | null, window: Window): Comment[];
  count(projectId: string, traceId: string, spanId: string | null): number;
  edit(id: string, text: string, at: Micros): void;
  remove(id: string): void;
}
