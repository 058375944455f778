import type { Micros } from '../../engine/timestamp.js';

export type LinkType = 'prompt_completion';

/** A link that lets people without an account review completions of a prompt. */
export interface FeedbackLink {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly prompt_id: string;
  readonly prompt_slug: string;
  readonly link_type: LinkType;
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
