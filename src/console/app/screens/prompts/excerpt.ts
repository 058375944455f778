import { readConversation } from '../../../../features/review/conversation.js';

/** Longest excerpt, in characters: more than a cell shows. */
const LONGEST = 200;

/** What an input or output comes to in one line: of messages, the text of the last. Null: there is none. */
export function excerptOf(text: string | null): string | null {
  if (text === null) return null;
  const read = readConversation(text);
  if (read.kind !== 'messages') return read.text.slice(0, LONGEST);
  const last = read.messages.at(-1)?.parts.map((part) => part.text) ?? [];
  return last.join(' ').slice(0, LONGEST);
}
