import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { line } from '../../engine/schema/parts.js';
import { SLUG } from '../../engine/schema/slug.js';

/** Longer contents are refused: a prompt is read by every client at its start. */
export const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
/**
 * The highest number of a version, imported or counted: one that nobody has come to is made up, and without an end those to come would
 * have no numbers that JavaScript reads exactly.
 */
export const MAX_VERSIONS = 1_000_000_000;
const MAX_MODEL_ID = 512;

export const Slug = Type.String({
  pattern: SLUG.source,
  'x-must': 'have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, hyphen, space and slash',
  description: 'Slug of the prompt, which is also the name of its task; percent-encode a space or slash.',
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
export const ModelId = line(MAX_MODEL_ID, 'Model bound to the version, such as `openai/gpt-4o`.');

export const EnsureInput = Type.Object(
  {
    content: Type.String({
      minLength: 1,
      description: 'Text of the prompt; may contain `{{variable}}` placeholders. Stored byte for byte.',
    }),
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
