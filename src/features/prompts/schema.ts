import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { line } from '../../engine/schema/parts.js';
import { SLUG } from '../../engine/schema/slug.js';

/** Longer contents are refused: a prompt is read by every client at its start. */
export const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
/**
 * The highest number of a version, imported or counted: one that no one has come to is made up, and without an end those to come would
 * have no numbers that JavaScript reads exactly.
 */
export const MAX_VERSIONS = 1_000_000_000;
const MAX_MODEL_ID = 512;
/** Most messages of a version; as many as a call of a model has. */
export const MAX_PROMPT_MESSAGES = 500;

export const Slug = Type.String({
  pattern: SLUG.source,
  'x-must': 'have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, hyphen, space and slash',
  description: 'Slug of the prompt, which is also the name of its task; percent-encode a space or slash.',
});
export const ContentHash = Type.String({
  pattern: '^[0-9A-Fa-f]{64}$',
  'x-must': 'be a SHA-256 in hexadecimal (64 digits)',
  description: 'SHA-256 of the content in UTF-8, hexadecimal; of a version with messages or a config, of all of these.',
});
export const VersionNumber = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Number of the version.',
});
export const ModelId = line(MAX_MODEL_ID, 'Model bound to the version, such as `openai/gpt-4o`.');

const MUST = {
  'x-must':
    'be a message (`role`, `content`) or a placeholder (`"type": "placeholder"`, `name`), with no other members',
};
const ROLE = '^[A-Za-z][A-Za-z0-9_.-]{0,63}$';
const PLACE = '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$';
const only = (...names: string[]) => ({ ...MUST, propertyNames: { ...MUST, enum: names } });

export const PromptMessage = Type.Union(
  [
    Type.Object(
      {
        role: Type.String({ ...MUST, pattern: ROLE, description: 'Role, such as `system`, `user` or `assistant`.' }),
        content: Type.String({ ...MUST, description: 'Text; may contain `{{variable}}` placeholders.' }),
      },
      { ...only('role', 'content'), description: 'A message.' },
    ),
    Type.Object(
      {
        type: Type.Literal('placeholder', { ...MUST, description: 'Marks a placeholder.' }),
        name: Type.String({ ...MUST, pattern: PLACE, description: 'Name of the list of messages to insert here.' }),
      },
      { ...only('type', 'name'), description: 'A placeholder for messages, such as the conversation so far.' },
    ),
  ],
  { ...MUST, description: 'A message or a placeholder.' },
);
export type PromptMessage = Static<typeof PromptMessage>;

const bounds = { minItems: 1, maxItems: MAX_PROMPT_MESSAGES };
export const PromptMessages = Type.Array(PromptMessage, {
  ...bounds,
  description: 'Messages of a chat version.',
});

export const PromptConfig = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Any JSON that belongs to the version, such as parameters of the model or tools. Spanhouse does not interpret it.',
});

export const EnsureInput = Type.Object(
  {
    content: optional(
      Type.String({
        minLength: 1,
        description:
          'Text of the prompt; may contain `{{variable}}` placeholders. Stored byte for byte. Required without `messages`.',
      }),
    ),
    messages: optional(
      Type.Array(PromptMessage, {
        ...bounds,
        description: 'Messages instead of a text: the version is a chat version.',
      }),
    ),
    config: optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: `${PromptConfig.description ?? ''} The same text with another config is another version.`,
      }),
    ),
    content_hash: optional(
      Type.String({ ...ContentHash, description: `${ContentHash.description ?? ''} Computed if absent.` }),
    ),
    model_id: optional(ModelId),
    metadata: optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON to store with the version.' }),
    ),
  },
  { $id: 'EnsureVersion', description: 'Content of the version to ensure.' },
);
export type EnsureInput = Static<typeof EnsureInput>;

export const PinInput = Type.Object(
  { version: VersionNumber },
  { $id: 'PinTag', description: 'The version to which to point the tag.' },
);

export const BindInput = Type.Object(
  {
    model_id: Type.Union([ModelId, Type.Null()], {
      description: 'The model to bind, such as `openai/gpt-4o`; null unbinds.',
    }),
  },
  { $id: 'BindModel', description: 'The model of a version.' },
);
