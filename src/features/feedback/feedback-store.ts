import type { FeedbackDraft, StoredFeedback } from './feedback.js';

/**
 * Where feedback is kept.
 *
 * Guarantees: what `save` returned is durable and seen by every later read. There is one record per project, completion,
 * user and judge (or none), however many save it at once; `id` and `created_at` are those of the first.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface FeedbackStore {
  save(draft: FeedbackDraft): StoredFeedback;
  /** Feedback on completions of a prompt (none on judges' evaluations), the last changed first. */
  ofPrompt(promptId: string, limit: number): StoredFeedback[];
  /** Feedback of one user on some completions, none on judges' evaluations. In no particular order. */
  ofUser(projectId: string, userId: string, completionIds: readonly string[]): StoredFeedback[];
  /** The share of people who liked each span, in their order; null: no one said so. What they say of evaluations is left out. */
  liked(projectId: string, spanIds: readonly string[]): (number | null)[];
}
