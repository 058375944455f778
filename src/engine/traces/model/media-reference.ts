/*
 * Clients of Langfuse send images apart from their spans, whose texts name them by the beginning of their hash:
 * `@@@langfuseMedia:type=image/png|id=<22 characters of base64url>|source=bytes@@@`.
 */

/** What each reference begins with. */
export const MEDIA_MARK = '@@@langfuseMedia:';

/** A reference, with the id as its group, as JavaScript and ClickHouse read it. */
export const MEDIA_REFERENCE = `${MEDIA_MARK}type=[^|@]{1,100}\\|id=([A-Za-z0-9_-]{22})\\|source=[a-z0-9_]{1,40}@@@`;

/** Most different references of one span that are looked at. */
export const MAX_MEDIA_PER_SPAN = 50;

/** The id of media in references. @param sha256 in hexadecimal */
export function mediaIdOf(sha256: string): string {
  return Buffer.from(sha256, 'hex').toString('base64url').slice(0, 22);
}

/** What the hash of media with this id begins with, in hexadecimal; null: it is no such id. */
export function hashBeginning(mediaId: string): string | null {
  return /^[A-Za-z0-9_-]{22}$/.test(mediaId) ? Buffer.from(mediaId, 'base64url').subarray(0, 16).toString('hex') : null;
}
