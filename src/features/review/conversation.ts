import { parseJsonText } from '../../engine/json-text.js';
import { isJsonObject } from '../../engine/json-object.js';

/**
 * A message of a span's input or output, as people read it. Spans hold the messages of many libraries: OpenAI (chat
 * completions and responses), Anthropic, Gemini, the OpenTelemetry GenAI conventions, OpenInference, the Vercel AI SDK.
 * Whatever is not understood is shown as text, so that nothing is ever hidden.
 */
export interface Message {
  /** Role as it was sent: `system`, `user`, `assistant`, `tool` and others. */
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

export interface MessagePart {
  /** Kind of the part: `text` to read; `data` is a call, a result or something else to be shown as it is. */
  readonly kind: 'text' | 'data';
  /** Label of a `data` part, such as `calls search`; null for text. */
  readonly label: string | null;
  readonly text: string;
  /** What it is beyond that, where it says so. */
  readonly purpose?: PartPurpose;
  /** Of a call and its result: what joins the two. */
  readonly callId?: string;
}

export type PartPurpose = 'reasoning' | 'call' | 'result' | 'image';

/** Messages, a text to read, or JSON of something else, such as what a tool was given. */
export type Conversation =
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'text' | 'data'; readonly text: string };

type Json = Readonly<Record<string, unknown>>;

/** Largest JSON that is parsed: larger one is shown as it is, as no person reads it and parsing would take long. */
const MAX_PARSED = 4 * 1024 * 1024;
const MAX_INDENTED = 40;
const MAX_INDENTED_LENGTH = 64 * 1024;

export function readConversation(text: string): Conversation {
  const value = parsed(text);
  if (value === undefined) return { kind: 'text', text };
  const messages = messagesOf(value);
  if (messages !== null) return { kind: 'messages', messages };
  const said = typeof value === 'string' ? value : onlyText(value);
  if (said === null) return { kind: 'data', text: written(value) };
  // Some write JSON into a JSON string.
  return /^\s*[[{]/.test(said) ? readConversation(said) : { kind: 'text', text: said };
}

function parsed(text: string): unknown {
  if (text.length > MAX_PARSED || !/^\s*[[{"]/.test(text)) return undefined;
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

/** The messages in a value: a list of them, one, or an object that holds a list under one of the known names. */
function messagesOf(value: unknown): Message[] | null {
  if (Array.isArray(value)) {
    const messages = value.map(messageOf);
    return messages.length > 0 && messages.every((message) => message !== null) ? messages : null;
  }
  if (!isJsonObject(value)) return null;
  const single = messageOf(value);
  if (single !== null) return [single];
  for (const name of ['messages', 'input', 'contents', 'choices', 'output', 'candidates']) {
    const list = value[name];
    const messages = Array.isArray(list) ? messagesOf(list) : null;
    if (messages !== null) return [...instructionsOf(value), ...messages];
  }
  return null;
}

/** Messages from Anthropic's `system`, OpenAI's `instructions` or Gemini's `systemInstruction`. */
function instructionsOf(value: Json): Message[] {
  const system = value['system'] ?? value['instructions'] ?? value['systemInstruction'] ?? value['system_instruction'];
  if (system === undefined || system === null) return [];
  const content = isJsonObject(system) && Array.isArray(system['parts']) ? system['parts'] : system;
  return [{ role: 'system', parts: partsOf(content) }];
}

function messageOf(value: unknown): Message | null {
  if (!isJsonObject(value)) return null;
  // Messages are wrapped in choices of OpenAI, candidates of Gemini and by OpenInference.
  for (const name of ['message', 'delta', 'content'] as const) {
    const inner = value[name];
    if (isJsonObject(inner) && value['role'] === undefined) return messageOf(inner);
  }
  const role = value['role'] ?? value['message.role'] ?? roleOfType(value['type']);
  if (typeof role !== 'string') return null;
  if (typeof value['type'] === 'string' && value['role'] === undefined) return { role, parts: [partOf(value)] };
  const content = value['content'] ?? value['message.content'] ?? value['parts'] ?? value['text'];
  const calls = value['tool_calls'] ?? value['message.tool_calls'] ?? value['toolInvocations'];
  const refusal = value['refusal'];
  const parts = [
    ...(typeof value['reasoning_content'] === 'string' ? [reasoning(value['reasoning_content'])] : []),
    ...(content === undefined || content === null ? [] : ofTool(value, partsOf(content, isTool(role)))),
    ...(typeof refusal === 'string' ? [plain(refusal)] : []),
    ...(Array.isArray(calls) ? calls.map(partOf) : []),
    ...(isJsonObject(value['function_call']) ? [partOf(value['function_call'])] : []),
  ];
  return { role, parts };
}

/** The parts of a message that answers a call as a whole. */
function ofTool(message: Json, parts: MessagePart[]): MessagePart[] {
  const callId = message['tool_call_id'] ?? message['message.tool_call_id'];
  if (typeof callId !== 'string') return parts;
  return parts.map((part) => ({ ...part, purpose: 'result', callId }));
}

/** Whether a role is a tool's, whose texts are data more often than not. */
function isTool(role: string): boolean {
  return role === 'tool' || role === 'function';
}

/** Role of an item of OpenAI's responses, which has none itself, by its type. */
function roleOfType(type: unknown): string | undefined {
  if (type === 'function_call' || type === 'reasoning') return 'assistant';
  if (type === 'function_call_output') return 'tool';
  return undefined;
}

function partsOf(content: unknown, ofTool = false): MessagePart[] {
  if (content === '') return [];
  const parts = Array.isArray(content) ? content.map(partOf) : [partOf(content)];
  return ofTool ? parts.map(ofJson) : parts;
}

/** A text of a tool as data, where it is JSON. */
function ofJson(part: MessagePart): MessagePart {
  return part.kind === 'text' && parsed(part.text) !== undefined ? data('result', part.text) : part;
}

function partOf(part: unknown): MessagePart {
  if (typeof part === 'string') return plain(part);
  if (!isJsonObject(part)) return data('data', part);
  const text = onlyText(part);
  if (text !== null)
    return /^(thinking|reasoning|summary_text)$/.test(String(part['type'])) ? reasoning(text) : plain(text);
  const call = callOf(part);
  if (call !== null) return call;
  const type = typeof part['type'] === 'string' ? part['type'] : null;
  if (type !== null && /^(image|input_image|image_url|audio|input_audio|file|document|blob)/.test(type))
    return {
      kind: 'data',
      label: type.replaceAll('_', ' '),
      text: mediaText(part),
      ...(/image/.test(type) && { purpose: 'image' }),
    };
  return data(type ?? 'data', part);
}

/** The text of a part that is nothing but text. */
function onlyText(part: unknown): string | null {
  if (!isJsonObject(part)) return null;
  const type = part['type'] ?? part['message_content.type'];
  if (
    type !== undefined &&
    !(typeof type === 'string' && /^(text|input_text|output_text|thinking|reasoning|summary_text|refusal)$/.test(type))
  )
    return null;
  const names = ['text', 'content', 'message_content.text', 'thinking', 'reasoning', 'refusal'];
  if (type === undefined && Object.keys(part).length > 1) return null;
  for (const name of names) {
    const text = part[name];
    if (typeof text === 'string') return text;
  }
  return null;
}

/** A call of a tool or its result. */
function callOf(part: Json): MessagePart | null {
  const inner = part['function'] ?? part['functionCall'] ?? part['tool_call'];
  const from = isJsonObject(inner) ? inner : part;
  const name = from['name'] ?? from['toolName'] ?? from['tool_name'] ?? from['tool_call.function.name'];
  const given = from['arguments'] ?? from['input'] ?? from['args'] ?? from['tool_call.function.arguments'];
  const joined = idOf(part) ?? idOf(from);
  const call = joined === null ? {} : { callId: joined };
  if (typeof name === 'string' && given !== undefined)
    return { kind: 'data', label: `calls ${name}`, text: textOf(given), purpose: 'call', ...call };
  const answer = { kind: 'data', purpose: 'result', ...call } as const;
  const response = isJsonObject(part['functionResponse']) ? part['functionResponse'] : part;
  const result = response['response'] ?? response['result'] ?? response['output'];
  if (result !== undefined)
    return { ...answer, label: typeof name === 'string' ? `result of ${name}` : 'result', text: textOf(result) };
  if (part['type'] === 'tool_result' && part['content'] !== undefined) {
    const parts = partsOf(part['content'], true).map(({ text }) => text);
    return { ...answer, label: 'result', text: parts.join('\n') };
  }
  return null;
}

/** What joins a call and its result, by the names of the libraries. */
function idOf(part: Json): string | null {
  const names = ['call_id', 'tool_call_id', 'tool_use_id', 'toolCallId', 'id'];
  const found = names.map((name) => part[name]).find((id) => typeof id === 'string');
  return typeof found === 'string' ? found : null;
}

/** Media by name only: their bytes say nothing to a reader, and nothing is fetched from elsewhere. */
function mediaText(part: Json): string {
  return JSON.stringify(part, (_key, value: unknown) =>
    typeof value === 'string' && value.length > 300 ? `${value.slice(0, 60)}… (${value.length} characters)` : value,
  );
}

function plain(text: string): MessagePart {
  return { kind: 'text', label: null, text };
}

function reasoning(text: string): MessagePart {
  return { ...plain(text), purpose: 'reasoning' };
}

function data(label: string, value: unknown): MessagePart {
  return { kind: 'data', label, text: textOf(value) };
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') return written(value);
  const inner = parsed(value);
  return inner === undefined ? value : written(inner);
}

/** JSON for people, indented unless it is long or deeply nested: indenting would make it many times as large. */
function written(value: unknown): string {
  const plain = JSON.stringify(value) ?? '';
  if (plain.length > MAX_INDENTED_LENGTH || isDeeper(value, MAX_INDENTED)) return plain;
  return JSON.stringify(value, null, 2) ?? '';
}

function isDeeper(value: unknown, than: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return than === 0 || Object.values(value).some((inner) => isDeeper(inner, than - 1));
}
