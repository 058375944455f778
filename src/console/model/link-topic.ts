import type { LinkRead } from '../../features/review/http/schema.js';

/** What a feedback link is for, in a few words. */
export function linkTopic({ prompt_slug, span_ids }: Pick<LinkRead, 'prompt_slug' | 'span_ids'>): string {
  const count = span_ids?.length ?? 0;
  return prompt_slug ?? `${count} ${count === 1 ? 'span' : 'spans'}`;
}
