import { MAX_MEDIA_PER_SPAN, MEDIA_MARK, MEDIA_REFERENCE } from '../../engine/traces/model/media-reference.js';
import type { Span } from '../../engine/traces/model/span/span.js';

/** How deep values of attributes are looked into. */
const MAX_DEPTH = 4;

/** Whether a span refers to media that was sent apart from it, told cheaply: false for nearly every span. */
export function mayHoldMedia(span: Span): boolean {
  return refers(span.input_data) || refers(span.output_data) || textsIn(span.attributes, MAX_DEPTH, refers);
}

/** Ids of the media that a span refers to, each once, up to {@link MAX_MEDIA_PER_SPAN}. */
export function mediaIn(span: Span): string[] {
  const ids = new Set<string>();
  const note = (text: string | null) => {
    if (!refers(text)) return false;
    for (const [, id = ''] of (text ?? '').matchAll(new RegExp(MEDIA_REFERENCE, 'g'))) {
      if (ids.size >= MAX_MEDIA_PER_SPAN) return true;
      ids.add(id);
    }
    return false;
  };
  const isFull = note(span.input_data) || note(span.output_data);
  if (!isFull) textsIn(span.attributes, MAX_DEPTH, note);
  return [...ids];
}

const refers = (text: string | null) => text !== null && text.includes(MEDIA_MARK);

/** Hands texts to a function until it answers true. @returns whether it did */
function textsIn(value: unknown, depth: number, isEnough: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isEnough(value);
  if (typeof value !== 'object' || value === null || depth < 0) return false;
  return Object.values(value).some((each) => textsIn(each, depth - 1, isEnough));
}
