import { sortedJson } from '../../engine/json-text.js';
import { placeholdersOf } from '../../features/optimization/placeholders.js';
import type { PromptVersionRead } from '../../features/prompts/http/schema.js';
import { placesIn, textWithVariables, writeMessages } from '../../features/prompts/prompt-messages.js';
import { isJsonObject } from '../../engine/json-object.js';

export type VersionContent = Pick<PromptVersionRead, 'content' | 'messages' | 'config'>;

/** A version as one text to compare: messages stand below their roles, without numbers, which would change with each that is put in front. */
export function versionText({ content, messages }: VersionContent): string {
  if (messages === undefined) return content;
  return messages
    .map((message) =>
      'name' in message ? `── placeholder ──\n${message.name}` : `── ${message.role} ──\n${message.content}`,
    )
    .join('\n\n');
}

/** The config in lines, whatever the order of its members; empty: there is none. */
export function configText({ config }: VersionContent): string {
  return config === undefined ? '' : JSON.stringify(JSON.parse(sortedJson(config)), null, 2);
}

/** Names that are filled in: those of variables, and those of places for messages. */
export function namesIn({ content, messages }: Omit<VersionContent, 'config'>): {
  readonly variables: readonly string[];
  readonly places: readonly string[];
} {
  const places = placesIn(messages ?? []);
  const variables = placeholdersOf(textWithVariables({ content, messages: messages ?? null }));
  return { variables, places: places.filter((name) => !variables.includes(name)) };
}

/** The role that says that a message of a draft is a place for messages; its text is the name. */
export const PLACE = ':placeholder';

/** A message that is being written. */
export interface DraftMessage {
  readonly role: string;
  readonly content: string;
}

/** What is being written of a version; JSON alone, as it is kept. */
export interface VersionDraft {
  readonly isChat: boolean;
  readonly text: string;
  readonly messages: readonly DraftMessage[];
  /** JSON of an object, or empty. */
  readonly config: string;
}

/** A text area knows no carriage returns. */
const oneLineBreak = (text: string) => text.replace(/\r\n?/g, '\n');

/** @param base the version that is begun from; null: nothing */
export function draftOfVersion(base: VersionContent | null): VersionDraft {
  const { content = '', messages, config } = base ?? {};
  return {
    isChat: messages !== undefined,
    text: messages === undefined ? oneLineBreak(content) : '',
    messages: messages?.map((message) =>
      'name' in message
        ? { role: PLACE, content: message.name }
        : { role: message.role, content: oneLineBreak(message.content) },
    ) ?? [{ role: 'system', content: oneLineBreak(content) }],
    config: config === undefined ? '' : JSON.stringify(config, null, 2),
  };
}

/** The version that a draft says. Texts get the carriage returns back that the version had which they were begun from. */
export function versionOfDraft(draft: VersionDraft, base: VersionContent | null): VersionContent {
  const had = base?.content.includes(base.messages === undefined ? '\r\n' : '\\r\\n') === true;
  const back = (text: string) => (had ? text.replaceAll('\n', '\r\n') : text);
  const config = objectIn(draft.config) ?? {};
  const beside = Object.keys(config).length > 0 ? { config } : {};
  if (!draft.isChat) return { content: back(draft.text), ...beside };
  const messages = draft.messages.map(({ role, content }) =>
    role === PLACE ? { type: 'placeholder' as const, name: content } : { role, content: back(content) },
  );
  return { content: writeMessages(messages), messages, ...beside };
}

/** What of a version is sent to make it. */
export function bodyOf({ content, messages, config }: VersionContent) {
  return { ...(messages === undefined ? { content } : { messages }), ...(config !== undefined && { config }) };
}

/** Whether two versions have the same content, so that they are one. */
export function isSameContent(one: VersionContent, other: VersionContent): boolean {
  const sameKind = (one.messages === undefined) === (other.messages === undefined);
  return sameKind && one.content === other.content && configText(one) === configText(other);
}

/** Why a draft can be no version; null: it can. */
export function refusalOf(draft: VersionDraft): string | null {
  if (objectIn(draft.config) === undefined) return 'The config must be a JSON object';
  if (!draft.isChat) return draft.text === '' ? 'Enter a text' : null;
  if (draft.messages.some(({ role, content }) => role === PLACE && !/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(content)))
    return 'A placeholder needs a name of letters, digits, dots, underscores and hyphens';
  const empty = draft.messages.findIndex(({ content }) => content === '');
  return empty === -1 ? null : `Message ${empty + 1} is empty`;
}

/** The object that a text is the JSON of; of an empty text, an empty one; undefined: it is none. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The messages with one moved by so many places. */
export function moved<T>(all: readonly T[], index: number, by: number): T[] {
  const rest = all.filter((_, at) => at !== index);
  const one = all[index];
  if (one !== undefined) rest.splice(Math.max(0, Math.min(rest.length, index + by)), 0, one);
  return rest;
}
