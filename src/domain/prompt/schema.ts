import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../schema/inputs.js';
import { line, orNull, time, uuid } from '../schema/parts.js';

/** Longer contents are refused: a prompt is read by every client at its start. */
export const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
const MAX_MODEL_ID = 512;

export const Slug = Type.String({
  pattern: '^[A-Za-z0-9._ /-]{1,128}$',
  'x-must': 'have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, hyphen, space and slash',
  description: 'Slug of the prompt, which is also the name of its task; a space or slash is written percent-encoded.',
});
export const Tag = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  'x-must': 'have 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen',
  description: 'Name of the tag.',
});
export const ContentHash = Type.String({
  pattern: '^[0-9A-Fa-f]{64}$',
  'x-must': 'be a SHA-256 in hexadecimal (64 digits)',
  description: 'SHA-256 of the content in UTF-8, hexadecimal.',
});
export const VersionNumber = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Number of the version.',
});
const ModelId = line(MAX_MODEL_ID, 'Model bound to the version, such as `openai/gpt-4o`.');

export const EnsureInput = Type.Object(
  {
    content: Type.String({
      minLength: 1,
      description: 'Text of the prompt; may hold `{{variable}}` placeholders. Kept byte for byte.',
    }),
    content_hash: optional(
      Type.String({ ...ContentHash, description: `${ContentHash.description ?? ''} Computed when absent.` }),
    ),
    model_id: optional(ModelId),
    metadata: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Anything worth keeping with it.' })),
  },
  { $id: 'EnsureVersion', description: 'A version that is to exist.' },
);
export type EnsureInput = Static<typeof EnsureInput>;

export const PinInput = Type.Object(
  { version: VersionNumber },
  { $id: 'PinTag', description: 'Where a tag is to point.' },
);

export const BindInput = Type.Object(
  {
    model_id: Type.Union([ModelId, Type.Null()], {
      description: 'The model to bind, such as `openai/gpt-4o`; null unbinds.',
    }),
  },
  { $id: 'BindModel', description: 'The model of a version.' },
);

export const PromptVersionRead = Type.Object(
  {
    id: uuid('Id of the version.'),
    version_id: uuid('The same as `id`.'),
    prompt_id: uuid('Id of the prompt.'),
    task_id: uuid('The same as `prompt_id`.'),
    prompt: Type.String({ description: 'Slug of the prompt.' }),
    content: Type.String({ description: 'Text of the prompt.' }),
    content_hash: Type.String({ description: 'SHA-256 of the content in UTF-8, lower-case hexadecimal.' }),
    version: Type.Integer({ description: 'Number of the version, from 1 without gaps.' }),
    model_id: orNull(Type.String({ description: 'Bound model; null when none is bound.' })),
    tag: orNull(Type.String({ description: 'Tag by which the version was asked for; null when it was by none.' })),
    is_latest: Type.Boolean({ description: 'Whether it is the newest version of the prompt.' }),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'What was given with it.' }),
    created_at: time('When it was made.'),
    updated_at: time('When a model was last bound to it, else when it was made.'),
  },
  { $id: 'PromptVersion', description: 'A version of a prompt.' },
);
export type PromptVersionRead = Static<typeof PromptVersionRead>;

export const ModelBindingRead = Type.Object(
  {
    model_id: orNull(Type.String({ description: 'Bound model; null when none is bound.' })),
    provider: orNull(Type.String({ description: 'Provider of the model; null when it is not known.' })),
    model: orNull(Type.String({ description: 'The same as `model_id`.' })),
  },
  { $id: 'ModelBinding', description: 'The model of a version.' },
);
export type ModelBindingRead = Static<typeof ModelBindingRead>;

export const TagEntryRead = Type.Object(
  { tag: Tag, version: Type.Integer({ description: 'Number of the version it points to.' }) },
  { $id: 'TagEntry', description: 'Where a tag points.' },
);

export const TagMoveRead = Type.Object(
  {
    version: Type.Integer({ description: 'Number of the version it was moved to.' }),
    pinned_at: time('When.'),
    pinned_by: Type.Object(
      {
        id: uuid('Id of the user.'),
        email: orNull(Type.String({ description: 'Email address of the user.' })),
        name: Type.String({ description: 'Name of the user.' }),
      },
      { description: 'On behalf of whom.' },
    ),
  },
  { $id: 'TagMove', description: 'One move of a tag.' },
);
export type TagMoveRead = Static<typeof TagMoveRead>;

export const PromptSummaryRead = Type.Object(
  {
    id: uuid('Id of the prompt.'),
    prompt_id: uuid('The same as `id`.'),
    slug: Type.String({ description: 'Slug of the prompt.' }),
    version_count: Type.Integer({ description: 'How many versions it has.' }),
    latest_version: Type.Integer({ description: 'Number of its newest version.' }),
    tags: Type.Array(TagEntryRead, { description: 'Where its tags point; `latest` comes first.' }),
    created_at: time('When it was made.'),
    updated_at: time('When its newest version was made.'),
  },
  { $id: 'PromptSummary', description: 'A prompt without its contents.' },
);
export type PromptSummaryRead = Static<typeof PromptSummaryRead>;
