import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';

/** For how many days a link works. */
export const DEFAULT_SHARE_DAYS = 7;
export const MAX_SHARE_DAYS = 90;

/** What of a trace its readers need not see, and what that is, in words. */
export const PARTS_OF_TRACES = {
  texts: 'inputs, outputs and images',
  errors: 'error codes, messages, stack traces and places in the code',
  user: 'tags that say who the user is',
  metadata: 'all tags, and which prompts were used',
  costs: 'costs and tokens',
  attributes: 'attributes, which may repeat anything else: they are left out with any other part, too',
} as const;

export type TracePart = keyof typeof PARTS_OF_TRACES;
export const TRACE_PARTS = Object.keys(PARTS_OF_TRACES) as [TracePart, ...TracePart[]];

/** A link by which people without an account read one trace. */
export interface ShareLink {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly trace_id: string;
  /** What is not shown by it. */
  readonly left_out: readonly TracePart[];
  readonly created_at: Micros;
  readonly expires_at: Micros;
  /** Null: it is not revoked. */
  readonly revoked_at: Micros | null;
}

/** A link as lists show it. */
export interface ListedShareLink extends ShareLink {
  readonly creator_id: string;
  readonly creator_name: string;
  /** When its trace was last opened by it; null: never. */
  readonly last_used_at: Micros | null;
  readonly uses: number;
}

/** A new link: the only time its URL is there. */
export interface CreatedShareLink extends ListedShareLink {
  readonly url: string;
  /** Whether the URL names this machine as such, so that it opens nowhere else. */
  readonly opens_here_only: boolean;
}

export interface ShareLinkDraft extends Omit<ShareLink, 'revoked_at'> {
  readonly token_hash: Buffer;
  readonly created_by: string;
  readonly after_deletion: number;
}

/** How many links there may be. */
export interface ShareLinkBounds {
  /** Of a trace, and of a project, that work. */
  readonly ofTrace: number;
  readonly ofProject: number;
  /** Of a project, with those that ended. */
  readonly kept: number;
  /** Of those that ended before, a portion is forgotten with each new one. */
  readonly endedBefore: Micros;
}

/** Links that share traces. Each write is durable when it returns. Throws DomainError `unavailable`. */
export interface ShareStore {
  /** @returns the bound that is met; null: it is stored */
  insert(draft: ShareLinkDraft, bounds: ShareLinkBounds): 'ofTrace' | 'ofProject' | 'kept' | null;
  /** Those of a project, also those that ended, the newest first. @param traceId only of this trace */
  list(projectId: string, traceId: string | null, window: Window): ListedShareLink[];
  find(projectId: string, id: string): ListedShareLink | undefined;
  /** Revokes a link, once. False when the project has no such link. */
  revoke(projectId: string, id: string, at: Micros): boolean;
  remove(id: string): void;
  /** A link, but for those of a project that is being deleted. */
  findByTokenHash(hash: Buffer): ShareLink | undefined;
  used(id: string, at: Micros): void;
  /** Whether links of a project work. */
  isAllowed(projectId: string): boolean;
  allow(projectId: string, allowed: boolean): void;
}
