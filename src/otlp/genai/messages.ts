import { parseJsonText } from '../../engine/json-text.js';
import { MAX_DEPTH } from '../budget.js';
import { newAttributes, type Attributes, type AttributeValue, type OtlpEvent } from '../model.js';
import { isJsonObject } from '../../engine/json-object.js';

/** One attribute of a message: `gen_ai.prompt.1.tool_calls.0.name` is path `['tool_calls', '0', 'name']` of message 1. */
export interface MessagePart {
  readonly message: number;
  readonly path: readonly string[];
  readonly value: AttributeValue;
}

/** Deeper paths are no message of any convention; what is left of them is one name. */
const MAX_PATH = 8;

/** Names that OpenInference repeats after each index and that carry nothing. */
const ENVELOPES: ReadonlySet<string> = new Set(['message', 'message_content', 'tool_call', 'prompt', 'completion']);

/** Fields that alone do not make a message: with content capture off, instrumentations send only these. */
const OUTLINE: ReadonlySet<string> = new Set(['role', 'finish_reason']);

const INDEX = /^\d{1,9}$/;

/**
 * Takes the rest of an indexed attribute's name apart.
 * @param rest what follows the prefix and its dot: `1.message.content`
 * @returns null when it does not begin with an index followed by a name
 */
export function parseIndexedName(rest: string): { readonly message: number; readonly path: readonly string[] } | null {
  const [index = '', ...segments] = rest.split('.', MAX_PATH + 1);
  if (segments.length === 0 || !INDEX.test(index)) return null;
  if (segments.length === MAX_PATH) return { message: Number(index), path: [rest.slice(index.length + 1)] };
  const path: string[] = [];
  let previous = index;
  for (const [i, segment] of segments.entries()) {
    const isEnvelope = i < segments.length - 1 && ENVELOPES.has(segment) && INDEX.test(previous);
    if (!isEnvelope) path.push(segment);
    previous = segment;
  }
  return { message: Number(index), path };
}

/**
 * Puts messages together again, in the order of their indexes. Gaps are closed: an index only says what comes first, so
 * a hostile one costs nothing.
 * @returns null when no part carries content
 */
export function assembleMessages(parts: readonly MessagePart[]): AttributeValue[] | null {
  const messages = new Map<number, Attributes>();
  // objects made here may be changed, those that an exporter sent as values may not
  const made = new Set<AttributeValue>();
  let content = false;
  for (const { message, path, value } of parts) {
    let into = messages.get(message);
    if (into === undefined) messages.set(message, (into = newAttributes()));
    place(into, path, value, made);
    content ||= !OUTLINE.has(path.at(-1) ?? '');
  }
  if (!content) return null;
  return [...messages].sort(([a], [b]) => a - b).map(([, message]) => finishMessage(message, made));
}

function place(root: Attributes, path: readonly string[], value: AttributeValue, made: Set<AttributeValue>): void {
  let node = root;
  for (const [i, segment] of path.entries()) {
    const held = node[segment];
    if (i === path.length - 1) {
      node[segment] = value;
    } else if (held === undefined) {
      const inner = newAttributes();
      made.add(inner);
      node[segment] = inner;
      node = inner;
    } else if (made.has(held)) {
      node = held as Attributes;
    } else {
      // a value stands where this path goes through: both are kept
      node[path.slice(i).join('.')] = value;
      return;
    }
  }
}

function finishMessage(message: Attributes, made: ReadonlySet<AttributeValue>): Attributes {
  for (const [name, value] of Object.entries(message)) message[name] = withLists(value, made);
  if (message.content === undefined && Array.isArray(message.contents)) {
    message.content = message.contents;
    delete message.contents;
  }
  return message;
}

/** Objects whose every name is an index become lists. */
function withLists(value: AttributeValue, made: ReadonlySet<AttributeValue>): AttributeValue {
  if (!made.has(value)) return value;
  const node = value as Attributes;
  for (const [name, inner] of Object.entries(node)) node[name] = withLists(inner, made);
  // integer-like names are enumerated in ascending order
  return Object.keys(node).every((name) => INDEX.test(name)) ? Object.values(node) : node;
}

/** Attributes of message events that are not part of the message. */
const EVENT_OUTLINE: ReadonlySet<string> = new Set([
  'gen_ai.system',
  'gen_ai.provider.name',
  'event.name',
  'event.domain',
]);

/** Attributes of an event that may hold the whole message as JSON text. */
export const UNFOLDED: readonly string[] = ['message', 'gen_ai.event.content'];

/**
 * A message that was sent as a span event: its attributes, `message` (of a choice) and `gen_ai.event.content` unfolded.
 * @returns null when the event carries no content
 */
export function messageOfEvent(event: OtlpEvent, role: string): AttributeValue | null {
  const message = newAttributes();
  message.role = role;
  let content = false;
  for (const [name, value] of Object.entries(event.attributes)) {
    if (EVENT_OUTLINE.has(name)) continue;
    const isContent = UNFOLDED.includes(name);
    const folded = isContent ? unfold(value) : null;
    if (folded !== null) Object.assign(message, folded);
    else message[isContent ? 'content' : name] = value;
    content ||= name !== 'role' && name !== 'finish_reason' && name !== 'index';
  }
  return content ? message : null;
}

function unfold(value: AttributeValue): Attributes | null {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('{')) return null;
  try {
    return parseJsonText(value, MAX_DEPTH) as Attributes;
  } catch {
    return null;
  }
}

/**
 * Sets system instructions before input messages, both as JSON text, without parsing either.
 * @returns the messages alone when they are no JSON list
 */
export function withSystemInstructions(instructions: string, messages: string): string {
  const list = messages.trim();
  if (!list.startsWith('[') || !list.endsWith(']')) return messages;
  const parts = instructions.trim();
  const isList = parts.startsWith('[') && parts.endsWith(']');
  const system = isList
    ? `{"role":"system","parts":${parts}}`
    : JSON.stringify({ role: 'system', parts: [{ type: 'text', content: instructions }] });
  const rest = list.slice(1).trimStart();
  return rest === ']' ? `[${system}]` : `[${system},${rest}`;
}
