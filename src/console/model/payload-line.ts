import { readConversation, type Message, type MessagePart } from '../../features/review/conversation.js';

export type Side = 'input' | 'output';

/** Most characters of a line: more than a cell shows, and than lists answer of a text. */
const LONGEST = 700;
/** Where a list has left out the middle of a text (`engine/traces/read/excerpt.ts`). */
const GAP = /\n\[… \d+ characters left out here …\]\n/;
/** A text of a message, up to its closing quote or to where the JSON breaks off. */
const SAID = /"(?:content|text)"\s*:\s*"((?:[^"\\]|\\.)*)/gs;
const BY_USER = /"role"\s*:\s*"(?:user|human)"[^}]*$/;

/**
 * What an input or output comes to in one line: of messages, what the user said last, or the text that was answered. Lists
 * answer excerpts, so that long messages are JSON without its middle, of which it says what can still be read.
 */
export function payloadLine(text: string, side: Side): string {
  // Longer texts are whole, whatever stands in them.
  const [head = '', tail] = text.length > 2 * LONGEST ? [text] : text.split(GAP);
  if (tail !== undefined && /^\s*[[{]/.test(head)) return saidInPart(head, tail, side) ?? text;
  const read = readConversation(text);
  if (read.kind !== 'messages') return read.text.slice(0, LONGEST).trim();
  const { messages } = read;
  const asked = side === 'input' ? messages.findLast((message) => isUser(message) && line(message) !== '') : undefined;
  return line(asked ?? messages.findLast((message) => line(message) !== '')).slice(0, LONGEST);
}

const isUser = ({ role }: Message) => /^(user|human)$/i.test(role);

/** Texts say more than calls; where there is no text, the calls are named. */
function line(message: Message | undefined): string {
  const parts = message?.parts ?? [];
  const texts = parts.filter(({ kind, purpose }) => kind === 'text' && purpose !== 'reasoning');
  return (texts.length > 0 ? texts : parts).map(written).join(' ').trim();
}

const written = ({ label, text }: MessagePart) => (label === null ? text : `${label}: ${text}`);

/** What is said at the end of an input, and at the beginning of an output. Null: neither part holds a text. */
function saidInPart(head: string, tail: string, side: Side): string | null {
  const [before, behind] = [[...head.matchAll(SAID)], [...tail.matchAll(SAID)]];
  const first = before.at(-1);
  if (side === 'output') return unescaped((first ?? behind.at(-1))?.[1]);
  const byUser = (part: string, { index }: RegExpExecArray) => BY_USER.test(part.slice(0, index));
  const asked = behind.findLast((match) => byUser(tail, match));
  if (asked !== undefined) return unescaped(asked[1]);
  if (behind.length > 0) return unescaped(behind.at(-1)?.[1]);
  // One text that the user began, and that goes on to the end as far as can be told.
  if (first !== undefined && head.endsWith(first[0]) && byUser(head, first)) return unescaped(first[1]);
  // The last text begins in what is left out, and ends here.
  const [, end = ''] = /^((?:[^"\\]|\\.)*)"\s*\}/s.exec(tail) ?? [];
  return end === '' ? unescaped(first?.[1]) : `… ${unescaped(end) ?? end}`;
}

/** Reads a part of a JSON string, which may begin and end within an escape. */
function unescaped(part: string | undefined): string | null {
  if (part === undefined || part === '') return null;
  const whole = part.replace(/\\(u[0-9a-f]{0,3})?$/i, '');
  try {
    return (JSON.parse(`"${whole.replaceAll('\n', ' ')}"`) as string).slice(0, LONGEST);
  } catch {
    return whole.slice(0, LONGEST);
  }
}
