import type { SpanFlaw } from '../images/intake.js';
import type { Tags } from '../../engine/schema/tags.js';

type Tagged = { readonly [K in TagField]?: Tags };
type TagField = (typeof TAG_FIELDS)[number];

const TAG_FIELDS = ['tags', 'trace_tags', 'session_tags'] as const;
/** A character of a string has at most so many bytes of UTF-8. */
const MAX_BYTES = 3;

/** Flaws of the spans, or posted traces and sessions, with more tags than allowed, by their index. */
export function tagFlaws(tagged: readonly Tagged[], maxBytes: number): SpanFlaw[] {
  const flaws: SpanFlaw[] = [];
  for (const [index, element] of tagged.entries()) {
    const tooLarge = TAG_FIELDS.filter((field) => isLarger(element[field], maxBytes));
    if (tooLarge.length === 0) continue;
    const detail = `must not have more than ${maxBytes} bytes of keys and values together`;
    flaws.push({ index, issues: tooLarge.map((field) => ({ pointer: `/${field}`, detail })) });
  }
  return flaws;
}

function isLarger(tags: Tags | undefined, maxBytes: number): boolean {
  let characters = 0;
  for (const key in tags) characters += key.length + (tags[key]?.length ?? 0);
  if (characters * MAX_BYTES <= maxBytes || tags === undefined) return false;
  const bytes = Object.entries(tags).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return bytes > maxBytes;
}
