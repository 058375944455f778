import { createHash } from 'node:crypto';

/** The reviewer that a visitor of a feedback link claims to be. */
export interface ReviewerClaim {
  /** Name as the visitor gave it. */
  readonly name: string;
  /** Secret of the browser that keeps the name; empty for a name kept from before there were secrets. */
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
export function normalizedName(name: string): string {
  return name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

/** Key that tells reviewers of a link apart. A name alone is no proof: whoever has the link can give any. */
export function guestKeyOf({ name, holder }: ReviewerClaim): string {
  const named = normalizedName(name).toLowerCase();
  return holder === '' ? named : createHash('sha256').update(`${holder}\n${named}`).digest('base64url');
}
