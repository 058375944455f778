import type { Holdings } from '../../engine/work/fair-quota.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Window } from '../../engine/schema/page.js';
import type { FeedbackLink, LinkDraft, ListedLink } from './feedback-link.js';

/**
 * Where feedback links and their reviewers are kept. A write that returned is durable and seen by every later read.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface LinkStore {
  insert(draft: LinkDraft): void;
  /** Links of a project, newest first; revoked and expired ones too. */
  list(projectId: string, window: Window): ListedLink[];
  /** One of them. */
  listed(projectId: string, id: string): ListedLink | undefined;
  /** Also a revoked or expired one. */
  find(projectId: string, id: string): FeedbackLink | undefined;
  /** Has a link expire at another time, unless it is revoked. False when the project has no such link. */
  expire(projectId: string, id: string, at: Micros): boolean;
  /** Revokes a link, once: a later call changes nothing. False when the project has no such link. */
  revoke(projectId: string, id: string, at: Micros): boolean;
  /** A link, but for those of a project that is being deleted. */
  findByTokenHash(hash: Buffer): FeedbackLink | undefined;
  /** The user that a guest of the link is. */
  guest(linkId: string, key: string): string | undefined;
  /** The user that a guest of the link is, made once when missing, however many ask at the same time. */
  makeGuest(linkId: string, guest: GuestDraft): string;
  /** Reviewers and bytes of a link, of all guests and of those in one network. */
  holdings(linkId: string, site: string): LinkHoldings;
}

export interface GuestDraft {
  /** Key by which guests of a link are told apart. */
  readonly key: string;
  readonly name: string;
  readonly site: string;
  readonly at: Micros;
}

type Held = Pick<Holdings, 'taken' | 'ofParty'>;

export interface LinkHoldings {
  readonly reviewers: Held;
  /** Size of the guests' feedback: {@link RECORD_BYTES} and its texts each. */
  readonly bytes: Held;
}

/** Bytes that feedback counts for besides its texts. */
export const RECORD_BYTES = 512;
