import { membersIn, membersOf, textOf, type Members } from '../members.js';

/** Counts what is left out. */
export interface LeftOut {
  images: number;
}

/** The blocks of a content, which may be a text alone. */
export function blocksOf(content: unknown): Members[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return membersIn(content);
}

/** What a content says, as text: an image by its type and size, anything else as JSON. */
export function contentText(content: unknown, left: LeftOut): string {
  return blocksOf(content)
    .map((block) => blockText(block, left))
    .join('\n');
}

function blockText(block: Members, left: LeftOut): string {
  if (block['type'] === 'text') return textOf(block['text']) ?? '';
  if (block['type'] !== 'image') return JSON.stringify(block);
  left.images += 1;
  const source = membersOf(block['source']);
  const bytes = Math.floor(((textOf(source['data']) ?? '').length * 3) / 4);
  return `[${textOf(source['media_type']) ?? 'image'}, ${bytes} bytes]`;
}
