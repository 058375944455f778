import { createHash } from 'node:crypto';

/** Who a visitor of a feedback link says to be. */
export interface ReviewerClaim {
  /** As it was given. */
  readonly name: string;
  /** Secret of the browser that holds the name; empty for one that remembers a name from before there were any. */
  readonly holder: string;
  /** The network that the visitor is in, in a form that does not tell which. */
  readonly site: string;
}

/** A reviewer without an account, known by browser and name on one link. */
export interface Reviewer {
  readonly name: string;
  readonly user_id: string;
}

/** Names that look alike are alike: white space, composition and invisible characters do not tell people apart. */
export function normalisedName(name: string): string {
  return name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

/** What reviewers are told apart by. A name alone is no proof: whoever has the link can say any. */
export function guestKeyOf({ name, holder }: ReviewerClaim): string {
  const named = normalisedName(name).toLowerCase();
  return holder === '' ? named : createHash('sha256').update(`${holder}\n${named}`).digest('base64url');
}
