import { Type } from '@sinclair/typebox';
import { orNull, time, uuid } from '../../../engine/schema/parts.js';
import { TagName } from '../../../engine/schema/tag.js';
import { CACHE_READ, ModelName, ProviderName, rate, rates } from '../../prices/schema.js';
import { ContentHash, MAX_CONTENT_BYTES, MAX_VERSIONS, ModelId, Slug, VersionNumber } from '../../prompts/schema.js';
import { json, person, record } from './record.js';

/* Prompts, and the prices of what answers them. */

export const prompts = record('Prompt', 'A prompt.', {
  id: uuid('Id of the prompt.'),
  slug: Slug,
  last_version: Type.Integer({
    minimum: 0,
    maximum: MAX_VERSIONS,
    description: 'The highest number that a version of it ever had.',
  }),
  created_at: time('When the prompt was created.'),
});

export const prompt_versions = record('PromptVersion', 'A version of a prompt.', {
  id: uuid('Id of the version.'),
  prompt_id: uuid('The prompt.'),
  version: Type.Integer({ ...VersionNumber, maximum: MAX_VERSIONS }),
  content: Type.String({
    ...{ minLength: 1, maxLength: MAX_CONTENT_BYTES },
    description: 'Text of the version; of a chat version, its messages as JSON.',
  }),
  is_chat: Type.Optional(Type.Boolean({ description: 'Whether it is a chat version. Default: false.' })),
  config: Type.Optional(json('JSON that belongs to the version. Default: none.')),
  content_hash: ContentHash,
  model_id: orNull(Type.String({ ...ModelId, description: 'Model bound to the version; null: none.' })),
  metadata: json('Any JSON stored with the version.'),
  created_at: time('When the version was created.'),
  created_by: person('Who created it.'),
  updated_at: time('When its model was last bound.'),
});

export const tag_moves = record('TagMove', 'A move of a tag; the last one of a tag says where it points.', {
  prompt_id: uuid('The prompt.'),
  tag: TagName,
  version: orNull(VersionNumber),
  pinned_at: time('When it was moved.'),
  pinned_by: person('Who moved it.'),
});

export const prices = record('Price', 'A custom price of the project.', {
  provider: ProviderName,
  model: ModelName,
  ...rates,
  cache_read_per_million: orNull(rate(CACHE_READ)),
  created_at: time('When it was first set.'),
  updated_at: time('When it was last set.'),
});
