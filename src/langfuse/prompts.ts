import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../engine/schema/inputs.js';
import { uuid } from '../engine/schema/parts.js';
import { TagName } from '../engine/schema/tag.js';
import { formatTimestamp } from '../engine/timestamp.js';
import { invalid } from '../engine/validation/validation.js';
import { inSentNames } from '../facade/sent-names.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import { LATEST, type SelectedVersion } from '../features/prompts/prompt.js';
import { MAX_PROMPT_MESSAGES, Slug, VersionNumber, type PromptMessage } from '../features/prompts/schema.js';

const MAX_LABELS = 100;
const labels = (description: string) => Type.Array(TagName, { maxItems: MAX_LABELS, description });
const line = (description: string) => Type.String({ maxLength: 1000, description });

export const CreatePrompt = Type.Object(
  {
    name: Type.String({ ...Slug, description: 'Name of the prompt: its slug.' }),
    type: optional(Type.Union([Type.Literal('text'), Type.Literal('chat')], { description: 'Default: `text`.' })),
    prompt: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown(), { maxItems: MAX_PROMPT_MESSAGES })], {
      description: 'The text, or with `"type": "chat"` the messages and placeholders.',
    }),
    config: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON object.' })),
    labels: optional(labels('Tags to point to the version.')),
    tags: optional(Type.Array(line('A word.'), { maxItems: MAX_LABELS, description: 'Words to keep in `metadata`.' })),
    commitMessage: optional(line('Why the version was made; kept in `metadata`.')),
    isActive: optional(Type.Boolean({ description: 'The same as the label `production`.' })),
  },
  { $id: 'LangfuseCreatePrompt', description: 'A version of a prompt, as clients of Langfuse send it.' },
);
export type CreatePrompt = Static<typeof CreatePrompt>;

export const NewLabels = Type.Object(
  { newLabels: labels('Tags to point to the version, beside those that do.') },
  { $id: 'LangfuseNewLabels', description: 'Tags to move to a version.' },
);

export const PromptRead = Type.Object(
  {
    id: uuid('Id of the version.'),
    projectId: uuid('Id of the project.'),
    name: Type.String({ description: 'Slug of the prompt.' }),
    version: Type.Integer({ description: 'Number of the version.' }),
    type: Type.String({ description: '`text` or `chat`.' }),
    prompt: Type.Unknown({ description: 'The text, or the messages of a chat version.' }),
    config: Type.Record(Type.String(), Type.Unknown(), { description: 'The config of the version.' }),
    labels: Type.Array(Type.String(), { description: 'Tags that point to the version, `latest` among them.' }),
    tags: Type.Array(Type.String(), { description: 'Words that the version was made with.' }),
    commitMessage: Type.Union([Type.String(), Type.Null()], { description: 'Why the version was made.' }),
    resolutionGraph: Type.Null({ description: 'Always null: prompts do not include each other.' }),
    createdAt: Type.String({ description: 'When the version was created.' }),
    updatedAt: Type.String({ description: 'When its model was last bound, else when it was created.' }),
  },
  { $id: 'LangfusePrompt', description: 'A version of a prompt, as clients of Langfuse read it.' },
);
export type PromptRead = Static<typeof PromptRead>;

export const VersionOfPrompt = Type.Object({ prompt_name: Slug, version: VersionNumber });

/** The body of `ensurePromptVersion` that makes the same version. @throws DomainError `invalid` */
export function toEnsure({ type, prompt, config, tags, commitMessage }: CreatePrompt) {
  if ((type === 'chat') !== Array.isArray(prompt))
    throw invalid([
      { pointer: '/prompt', detail: `must be ${type === 'chat' ? 'messages' : 'a text'} with this type` },
    ]);
  return {
    ...(Array.isArray(prompt) ? { messages: prompt.map(toMessage) } : { content: prompt }),
    ...(config != null && { config }),
    metadata: {
      ...(tags != null && tags.length > 0 && { tags }),
      ...(commitMessage != null && { commit_message: commitMessage }),
    },
  };
}

/** Clients say of a message that it is one. */
function toMessage(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null) return sent;
  const { type, role, content, name } = sent as Readonly<Record<string, unknown>>;
  return type === 'placeholder' ? { type, name } : { role, content };
}

/** Makes a version, unless there is one with the content, and moves tags to it. @throws DomainError */
export function createPrompt(
  prompts: Pick<PromptService, 'ensureTagged'>,
  by: Parameters<PromptService['ensureTagged']>[0],
  body: CreatePrompt,
): Promise<SelectedVersion> {
  const asked = [...(body.labels ?? []), ...(body.isActive === true ? ['production'] : [])];
  return inSentNames(() => prompts.ensureTagged(by, body.name, toEnsure(body), tagsOf(asked)), nameOf);
}

/** The tags to pin for labels: the latest needs no pin. */
export function tagsOf(labels: readonly string[]): string[] {
  return [...new Set(labels)].filter((label) => label !== LATEST);
}

/** What the client calls a part of a version. */
const nameOf = (pointer: string) => pointer.replace(/^\/(messages|content)(?=\/|$)/, '/prompt');

/** @throws DomainError `unavailable` */
export function toPromptRead(
  prompts: Pick<PromptService, 'tags'>,
  projectId: string,
  found: SelectedVersion,
): PromptRead {
  const { id, slug, version, messages, content, config, metadata, created_at, updated_at } = found;
  const { tags, commit_message } = metadata;
  return {
    ...{ id, projectId, name: slug, version, config },
    type: messages === null ? 'text' : 'chat',
    prompt: messages === null ? content : messages.map(toPart),
    labels: prompts.tags.of(found),
    tags: wordsIn(tags),
    commitMessage: typeof commit_message === 'string' ? commit_message : null,
    resolutionGraph: null,
    createdAt: formatTimestamp(created_at),
    updatedAt: formatTimestamp(updated_at),
  };
}

function toPart(message: PromptMessage) {
  return 'name' in message ? message : { type: 'chatmessage', ...message };
}

export function wordsIn(tags: unknown): string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}
