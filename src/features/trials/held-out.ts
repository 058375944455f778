import { createHash } from 'node:crypto';

/**
 * Whether feedback on a span is held out to measure by, rather than learned from. A hash of the span's id decides, so
 * each span is on its side for ever, whatever else comes; about half of all spans are held out.
 */
export function isHeldOut(spanId: string): boolean {
  return createHash('sha256').update(`held out/${spanId}`).digest().readUInt8(0) % 2 === 1;
}

/** The same of a result of an experiment: its row decides, so that no two results of one row are on both sides. */
export function isHeldOutWithRow(of: { readonly span_id: string; readonly row_key?: string | null }): boolean {
  return isHeldOut(of.row_key ?? of.span_id);
}
