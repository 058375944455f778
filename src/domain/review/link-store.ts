import type { Micros } from '../time/timestamp.js';
import type { Window } from '../prompt/prompt-store.js';
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
  /**
   * The guest user of this name on the link, made when missing, however many ask at once.
   * @param nameKey what names are told apart by
   * @returns undefined when it is missing and the link has `maxGuests` already
   */
  guest(linkId: string, name: string, nameKey: string, at: Micros, maxGuests: number): string | undefined;
}
