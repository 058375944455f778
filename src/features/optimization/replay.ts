import { chatRole } from '../../engine/models/chat-role.js';
import type { ChatMessage } from '../../engine/models/model-client.js';
import { parseJsonText } from '../../engine/json-text.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { fillPlaceholders, valuesIn } from './placeholders.js';
import { jsonObject } from '../../engine/json-object.js';

/** A completion that can be made again with another prompt. */
export interface Replay {
  /** Messages before the prompt. */
  readonly before: readonly ChatMessage[];
  readonly role: ChatMessage['role'];
  readonly after: readonly ChatMessage[];
  /** Values of the prompt's placeholders, as far as they are known. */
  readonly values: ReadonlyMap<string, string>;
}

/**
 * The replay of a completion, from its input: a list of messages (also as the `messages` of a request), or a text.
 * The message that one of the prompt's versions was filled into is where the prompt stands; else it is the first system
 * message; else the prompt comes before the conversation. Values of placeholders are taken from the attributes
 * `variables` or `zeroeval.variables`, else from that message. Null when there is no input.
 * @param versions contents of the prompt, the likeliest first
 */
export function replayOf(span: Pick<JudgedSpan, 'input' | 'attributes'>, versions: readonly string[]): Replay | null {
  const text = span.input?.text ?? '';
  if (text.trim() === '') return null;
  const messages = messagesIn(text);
  const given = variablesIn(span.attributes);
  // A prompt of nothing but a placeholder fits every message.
  for (const content of versions.filter((each) => fillPlaceholders(each, BLANK).trim() !== '')) {
    for (const [index, { role, content: filled }] of messages.entries()) {
      const values = valuesIn(content, filled);
      if (values === null) continue;
      return {
        before: messages.slice(0, index),
        role,
        after: messages.slice(index + 1),
        values: new Map([...values, ...given]),
      };
    }
  }
  const system = messages.findIndex(({ role }) => role === 'system');
  return {
    before: messages.slice(0, Math.max(0, system)),
    role: 'system',
    after: messages.slice(system + 1),
    values: given,
  };
}

/** The conversation with this prompt in its place. */
export function messagesWith(content: string, { before, role, after, values }: Replay): ChatMessage[] {
  return [...before, { role, content: fillPlaceholders(content, values) }, ...after];
}

/** Values that fill every placeholder with nothing. */
const BLANK = { get: () => '' };

/** The messages of an input: those of a list, also as the `messages` of a request; else all of it as one. */
export function messagesIn(text: string): ChatMessage[] {
  const parsed = jsonIn(text);
  const list = Array.isArray(parsed) ? parsed : jsonObject(parsed)['messages'];
  const messages = Array.isArray(list) ? list.map(toMessage) : [];
  const isConversation = messages.length > 0 && messages.every((message) => message !== null);
  return isConversation ? messages.filter((message) => message !== null) : [{ role: 'user', content: text }];
}

function toMessage(value: unknown): ChatMessage | null {
  const { role, content, parts } = jsonObject(value);
  if (typeof role !== 'string') return null;
  const text = textOf(content ?? parts);
  const known = chatRole(role);
  // Answers of tools are part of what the model was told.
  return known === undefined ? { role: 'user', content: `[${role}] ${text}` } : { role: known, content: text };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((part: unknown) => {
      const { text, content: inner } = jsonObject(part);
      return typeof text === 'string' ? text : typeof inner === 'string' ? inner : JSON.stringify(part);
    })
    .join('\n');
}

function variablesIn(attributes: Readonly<Record<string, unknown>>): Map<string, string> {
  const candidates = [
    jsonObject(attributes['zeroeval'])['variables'],
    attributes['zeroeval.variables'],
    attributes['variables'],
  ];
  const found = candidates.map((each) => jsonObject(typeof each === 'string' ? jsonIn(each) : each));
  const variables = found.find((each) => Object.keys(each).length > 0) ?? {};
  return new Map(
    Object.entries(variables).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

function jsonIn(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
