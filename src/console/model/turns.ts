import type { ShownMessage } from './text-document.js';

/** What a message says, so that it is known again when a later turn repeats it: models are sent their history each time. */
function mark({ parts }: ShownMessage): string {
  return parts.map(({ text }) => `${text.length}\n${text.head}`).join('\n\n');
}

/** Marks of everything that was said up to the end of a turn. */
export type Said = ReadonlySet<string>;

export function saidWith(before: Said, messages: readonly ShownMessage[]): Said {
  return new Set([...before, ...messages.map(mark)]);
}

/** How many messages at the beginning of a turn's input were said before it; one that was is never the last alone. */
export function repeated(before: Said, messages: readonly ShownMessage[]): number {
  const first = messages.findIndex((message) => !before.has(mark(message)));
  // A turn that says nothing new still shows its last message: someone asked the same again.
  return first < 0 ? Math.max(0, messages.length - 1) : first;
}
