import type { Holdings } from '../fair-share.js';
import type { Micros } from '../time/timestamp.js';
import type { Window } from '../schema/page.js';
import type { FeedbackLink, LinkDraft } from './feedback-link.js';

/**
 * Where feedback links and their reviewers are kept. A write that returned is durable and seen by every later read.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface LinkStore {
  insert(draft: LinkDraft): void;
  /** Newest first; revoked and expired ones too. */
  list(projectId: string, window: Window): FeedbackLink[];
  /** Revokes a link, once: a later call changes nothing. False when the project has no such link. */
  revoke(projectId: string, id: string, at: Micros): boolean;
  findByTokenHash(hash: Buffer): FeedbackLink | undefined;
  /** The user that a guest of the link is. */
  guest(linkId: string, key: string): string | undefined;
  /** The same, made when missing, however many ask at once. */
  makeGuest(linkId: string, guest: GuestDraft): string;
  /** What a link's guests hold of it, all of them and those of one site. */
  holdings(linkId: string, site: string): LinkHoldings;
}

export interface GuestDraft {
  /** What guests of a link are told apart by. */
  readonly key: string;
  readonly name: string;
  readonly site: string;
  readonly at: Micros;
}

type Held = Pick<Holdings, 'taken' | 'ofParty'>;

export interface LinkHoldings {
  readonly reviewers: Held;
  /** Of their feedback: {@link RECORD_BYTES} and its texts each. */
  readonly bytes: Held;
}

/** What a record counts for besides its texts. */
export const RECORD_BYTES = 512;
