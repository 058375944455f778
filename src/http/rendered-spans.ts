import type { SpanRead } from '../engine/traces/model/list/fields.js';
import { formatTimestamp, type Micros } from '../engine/timestamp.js';

/** An answer that was rendered before its spans were stored, with room for when that was. */
export interface RenderedSpans {
  /** The whole JSON. */
  readonly bytes: Uint8Array;
  /** Where the time of each span goes, in bytes; none when ids alone are answered. */
  readonly holes: readonly number[];
}

/**
 * Before it stand the attributes, which may hold a member of that name; behind it texts, in which each quotation mark is escaped. So the
 * last one is the span's own.
 */
const MEMBER = '"created_at":"';

/** Renders spans as `JSON.stringify` does, with any time of up to 2254 for `created_at`, which {@link fillIn} replaces. */
export function renderSpans(spans: readonly (SpanRead | { readonly id: string })[]): RenderedSpans {
  const holes: number[] = [];
  const texts: string[] = [];
  let length = 1;
  for (const span of spans) {
    const text = JSON.stringify(span);
    const bytes = Buffer.byteLength(text);
    const member = text.lastIndexOf(MEMBER);
    if (member !== -1) holes.push(length + bytes - Buffer.byteLength(text.slice(member + MEMBER.length)));
    texts.push(text);
    length += bytes + 1;
  }
  return { bytes: Buffer.from(`[${texts.join(',')}]`), holes };
}

/** The answer with the times at which its spans were taken in: all of these have the same length as text. */
export function fillIn({ bytes, holes }: RenderedSpans, createdAt: readonly Micros[]): Buffer {
  const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [index, hole] of holes.entries()) answer.write(formatTimestamp(createdAt[index] ?? 0), hole, 'latin1');
  return answer;
}
