import type { PromptMessage } from './schema.js';

/** What a version asks a model: a text, or a list of messages. */
export interface Template {
  /** The text; of a list of messages, its JSON. */
  readonly content: string;
  /** Null: it is a text. */
  readonly messages: readonly PromptMessage[] | null;
}

/** The JSON of messages, which is what readers of texts get: equal messages have one. */
export function writeMessages(messages: readonly PromptMessage[]): string {
  return JSON.stringify(
    messages.map((message) =>
      'name' in message ? { type: message.type, name: message.name } : { role: message.role, content: message.content },
    ),
  );
}

/** The messages of a JSON that {@link writeMessages} wrote. */
export function readMessages(content: string): readonly PromptMessage[] {
  return JSON.parse(content) as PromptMessage[];
}

/** What no variable has in it, so that none begins in one message and ends in the next. */
const BETWEEN = '\u0000';

/** All texts that variables may stand in, one behind the other. */
export function textWithVariables({ content, messages }: Template): string {
  if (messages === null) return content;
  return messages.flatMap((message) => ('name' in message ? [] : [message.content])).join(BETWEEN);
}

/** The names of the places that lists of messages are put in, each once. */
export function placesIn(messages: readonly PromptMessage[]): string[] {
  return [...new Set(messages.flatMap((message) => ('name' in message ? [message.name] : [])))];
}

/** The version as one text, for clients that take no messages: those of the system as they are, others behind their roles. */
export function plainText({ content, messages }: Template): string {
  if (messages === null) return content;
  return messages
    .flatMap((message) => {
      if ('name' in message) return [];
      return message.role === 'system' ? [message.content] : [`[${message.role}] ${message.content}`];
    })
    .join('\n\n');
}
