import type { Micros } from '../../engine/timestamp.js';

/** What a link is for: completions of a prompt, or some spans. */
export const LINK_TYPES = ['prompt_completion', 'span'] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** A link that lets people without an account review completions of a prompt, or some spans. */
export interface FeedbackLink {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  /** Null: the link is for spans. */
  readonly prompt_id: string | null;
  readonly prompt_slug: string | null;
  readonly link_type: LinkType;
  /** Ids of the spans that it is for, in the order in which they are shown; null: it is for a prompt. */
  readonly span_ids: readonly string[] | null;
  readonly created_at: Micros;
  readonly expires_at: Micros;
  readonly revoked_at: Micros | null;
}

/** A link as lists show it: with who made it, and how many reviewers have given a name on it. */
export interface ListedLink extends FeedbackLink {
  readonly creator_id: string;
  readonly creator_name: string;
  readonly reviewer_count: number;
}

/** A new link: the only time its URL is there. */
export interface CreatedLink extends FeedbackLink {
  readonly url: string;
  /** Whether the URL names this machine as such, so that it opens nowhere else. */
  readonly opens_here_only: boolean;
}

export interface LinkDraft extends Omit<FeedbackLink, 'prompt_slug' | 'revoked_at'> {
  readonly token_hash: Buffer;
  readonly created_by: string;
}
