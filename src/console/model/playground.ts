import { chatRole } from '../../engine/models/chat-role.js';
import { MESSAGE_ROLES, type ChatMessage } from '../../engine/models/model-client.js';
import { fillPlaceholders, placeholdersOf } from '../../features/optimization/placeholders.js';
import { messagesIn, replayOf } from '../../features/optimization/replay.js';
import type { SpanRead } from '../../engine/traces/model/list/fields.js';
import type { PlaygroundInput } from '../../features/playground/schema.js';
import type { PromptVersionRead } from '../../features/prompts/http/schema.js';
import { PLACE } from './prompt-version.js';
import { jsonObject } from '../../engine/json-object.js';

export const DRAFT_ROLES = [...MESSAGE_ROLES, PLACE] as const;

/** A message, or a place for messages: its text is then their name. */
export interface PlaygroundMessage {
  readonly role: (typeof DRAFT_ROLES)[number];
  readonly content: string;
}

/** What a person has written: messages with placeholders, and the values of these. */
export interface Draft {
  readonly messages: readonly PlaygroundMessage[];
  readonly values: ReadonlyMap<string, string>;
  /** Which of the messages is the text of a prompt; null: none was said to be. */
  readonly promptAt: number | null;
}

export const EMPTY_DRAFT: Draft = { messages: [{ role: 'user', content: '' }], values: new Map(), promptAt: null };

/** Settings of one of the calls that are made side by side; empty: nothing is said, so the server decides. */
export interface Variant {
  readonly model: string;
  readonly temperature: string;
}

export const MAX_VARIANTS = 4;
/** Answers that stay on the screen; earlier ones are among the spans. */
export const MAX_SHOWN = 8;

export function draftOfVersion({ content, messages: chat }: Pick<PromptVersionRead, 'content' | 'messages'>): Draft {
  if (chat !== undefined) {
    const written = chat.map((message): PlaygroundMessage =>
      'name' in message
        ? { role: PLACE, content: message.name }
        : { role: chatRole(message.role) ?? 'user', content: message.content },
    );
    return { messages: written, values: new Map(), promptAt: null };
  }
  const messages = [{ role: 'system', content } as const, { role: 'user', content: '' } as const];
  return { messages, values: new Map(), promptAt: 0 };
}

/** The input of a span, with the prompt that was filled into it as it was before. */
export function draftOfSpan(
  { input_data, attributes }: Pick<SpanRead, 'input_data' | 'attributes'>,
  version: Pick<PromptVersionRead, 'content' | 'messages'> | null,
): Draft {
  const text = input_data ?? '';
  const recorded: Draft = { ...EMPTY_DRAFT, messages: text === '' ? EMPTY_DRAFT.messages : messagesIn(text) };
  if (version === null || version.messages !== undefined) return recorded;
  const replay = replayOf({ input: { text, length: text.length }, attributes }, [version.content]);
  if (replay === null) return recorded;
  const { before, role, after, values } = replay;
  return { messages: [...before, { role, content: version.content }, ...after], values, promptAt: before.length };
}

/** The placeholders of all messages, each once, in their order. */
export function variablesOf({ messages }: Draft): string[] {
  return placeholdersOf(messages.map(({ role, content }) => (role === PLACE ? `{{${content}}}` : content)).join('\n'));
}

/** Whether nothing is sent of a variable that has no value: it names messages. */
export function isPlace({ messages }: Draft, name: string): boolean {
  return messages.some(({ role, content }) => role === PLACE && content === name);
}

/**
 * The messages as they are sent: filled, and without those that say nothing. A variable without a value stays as it is. What is put in the
 * place of messages is a list of them, or a text that the user says.
 */
export function filledMessages({ messages, values }: Draft): ChatMessage[] {
  const given = new Map([...values].filter(([, value]) => value !== ''));
  return messages
    .flatMap(({ role, content }): ChatMessage[] => {
      if (role !== PLACE) return [{ role, content: fillPlaceholders(content, given) }];
      const value = given.get(content);
      return value === undefined ? [] : messagesIn(value);
    })
    .filter(({ content }) => content !== '');
}

export interface Source {
  readonly prompt: string | null;
  readonly version: number | null;
  readonly span: string | null;
}

export function sourceIn(query: URLSearchParams): Source {
  const version = Number(query.get('version') ?? NaN);
  const prompt = query.get('prompt');
  return {
    prompt,
    version: prompt !== null && Number.isSafeInteger(version) && version > 0 ? version : null,
    span: query.get('span'),
  };
}

/** What is sent for one variant. */
export function inputOf(
  draft: Draft,
  { model, temperature }: Variant,
  { prompt, version, span }: Source,
): PlaygroundInput {
  return {
    messages: filledMessages(draft),
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(temperature.trim() === '' ? {} : { temperature: Number(temperature) }),
    source: {
      ...(prompt === null || version === null ? {} : { prompt_slug: prompt, version }),
      ...(span === null ? {} : { span_id: span }),
    },
  };
}

/** The variants that an address names, at least one. */
export function variantsIn(query: URLSearchParams): Variant[] {
  const temperatures = query.getAll('temperature');
  const models = query.getAll('model').slice(0, MAX_VARIANTS);
  return (models.length === 0 ? [''] : models).map((model, index) => ({
    model,
    temperature: temperatures[index] ?? '',
  }));
}

/** The parameters of variants; none while nothing is chosen. */
export function variantParameters(variants: readonly Variant[]): Readonly<Record<string, readonly string[]>> {
  const plain = variants.length === 1 && variants[0]?.model === '' && variants[0].temperature === '';
  return {
    model: plain ? [] : variants.map(({ model }) => model),
    temperature: plain ? [] : variants.map(({ temperature }) => temperature),
  };
}

export function draftText({ messages, values, promptAt }: Draft): string {
  return JSON.stringify([messages.map(({ role, content }) => [role, content]), [...values], promptAt]);
}

/** The draft of a text that `draftText` wrote; null for any other, as an address may say anything. */
export function readDraft(text: string): Draft | null {
  try {
    const [messages, values, promptAt] = JSON.parse(text) as unknown[];
    if (!isPairs(messages) || !isPairs(values)) return null;
    const known = messages.flatMap(([said, content]) => {
      const role = DRAFT_ROLES.find((each) => each === said);
      return role === undefined ? [] : [{ role, content }];
    });
    if (known.length === 0 || known.length < messages.length) return null;
    return {
      messages: known,
      values: new Map(values),
      promptAt: typeof promptAt === 'number' && messages[promptAt] !== undefined ? promptAt : null,
    };
  } catch {
    return null;
  }
}

function isPairs(value: unknown): value is [string, string][] {
  const isPair = (one: unknown) =>
    Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === 'string');
  return Array.isArray(value) && value.every(isPair);
}

/** What a call that is stored as a span says of itself. */
export interface ShownRun {
  readonly id: string;
  readonly trace_id: string;
  readonly model: string | null;
  readonly temperature: number | null;
  readonly output: string | null;
  readonly refused: boolean;
  readonly error: string | null;
  readonly finish_reason: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost: number | null;
  readonly duration_ms: number | null;
  readonly started_at: string;
}

export function runOfSpan(span: SpanRead): ShownRun {
  const about = jsonObject(span.attributes['spanhouse']);
  const { temperature, finish_reason } = about;
  return {
    id: span.id,
    trace_id: span.trace_id,
    model: span.model,
    temperature: typeof temperature === 'number' ? temperature : null,
    output: span.output_data,
    refused: about['refused'] === true,
    error: span.status === 'error' ? (span.error_message ?? 'The call failed') : null,
    finish_reason: typeof finish_reason === 'string' ? finish_reason : null,
    input_tokens: span.input_tokens,
    output_tokens: span.output_tokens,
    cost: span.cost,
    duration_ms: span.duration_ms,
    started_at: span.started_at,
  };
}
