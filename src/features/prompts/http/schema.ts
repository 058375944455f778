import { Type, type Static } from '@sinclair/typebox';
import { TagName } from '../../../engine/schema/tag.js';
import { ContentHash, PromptConfig, PromptMessages, Slug, VersionNumber } from '../schema.js';
import type { VersionSelector } from '../prompt.js';
import { count, number, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { project_id } from '../../../http/parameters.js';

export { ProjectParams } from '../../../http/parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Prompts';

export const PromptParams = Type.Object({ prompt_slug: Slug });
export const TaskParams = Type.Object({ task_name: Slug });
export const ProjectPromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const TagParams = Type.Object({ project_id, prompt_slug: Slug, tag: TagName });
export const VersionParams = Type.Object({ project_id, prompt_slug: Slug, version: VersionNumber });

/** By number when there is one, else by tag. */
export function selectorOf(version: number | undefined, tag: string): VersionSelector {
  return version === undefined ? { by: 'tag', tag } : { by: 'number', version };
}

export const PromptVersionRead = Type.Object(
  {
    id: uuid('Id of the version.'),
    version_id: uuid('The same as `id`.'),
    prompt_id: uuid('Id of the prompt.'),
    task_id: uuid('The same as `prompt_id`.'),
    prompt: Type.String({ description: 'Slug of the prompt.' }),
    content: Type.String({ description: 'Text of the prompt; of a chat version, its messages as JSON.' }),
    messages: Type.Optional({ ...PromptMessages, description: 'Only of a chat version: its messages.' }),
    config: Type.Optional({
      ...PromptConfig,
      description: 'Only if there is one: JSON that belongs to the version, such as parameters of the model.',
    }),
    content_hash: Type.String({ description: `${ContentHash.description ?? ''} Lower-case.` }),
    version: Type.Integer({
      description: 'Number of the version, from 1; that of a deleted version is never reused.',
    }),
    model_id: orNull(Type.String({ description: 'Bound model; null if none is bound.' })),
    tag: orNull(
      Type.String({ description: 'Tag by which the version was requested; null if it was not requested by tag.' }),
    ),
    is_latest: Type.Boolean({ description: 'Whether this is the newest version of the prompt.' }),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON stored with the version.' }),
    created_at: time('When the version was created.'),
    updated_at: time('When a model was last bound to the version, else when it was created.'),
  },
  { $id: 'PromptVersion', description: 'A version of a prompt.' },
);
export type PromptVersionRead = Static<typeof PromptVersionRead>;

export const ModelBindingRead = Type.Object(
  {
    model_id: orNull(Type.String({ description: 'Bound model; null if none is bound.' })),
    provider: orNull(Type.String({ description: 'Provider of the model; null if unknown.' })),
    model: orNull(Type.String({ description: 'The same as `model_id`.' })),
  },
  { $id: 'ModelBinding', description: 'The model of a version.' },
);
export type ModelBindingRead = Static<typeof ModelBindingRead>;

export const TagEntryRead = Type.Object(
  { tag: TagName, version: Type.Integer({ description: 'Number of the version that the tag points to.' }) },
  { $id: 'TagEntry', description: 'A tag and the version that it points to.' },
);

export const TagMoveRead = Type.Object(
  {
    version: orNull(
      Type.Integer({ description: 'Number of the version that the tag was moved to; null if it was removed.' }),
    ),
    pinned_at: time('When.'),
    pinned_by: Type.Object(
      {
        id: uuid('Id of the user.'),
        email: orNull(Type.String({ description: 'Email address of the user.' })),
        name: Type.String({ description: 'Name of the user.' }),
      },
      { description: 'User who moved or removed the tag.' },
    ),
  },
  { $id: 'TagMove', description: 'One move of a tag, or its removal.' },
);
export type TagMoveRead = Static<typeof TagMoveRead>;

export const PromptSummaryRead = Type.Object(
  {
    id: uuid('Id of the prompt.'),
    prompt_id: uuid('The same as `id`.'),
    slug: Type.String({ description: 'Slug of the prompt.' }),
    version_count: Type.Integer({ description: 'Number of versions of the prompt.' }),
    latest_version: Type.Integer({ description: 'Number of the newest version.' }),
    tags: Type.Array(TagEntryRead, {
      description: 'Tags of the prompt and the versions that they point to; `latest` comes first.',
    }),
    created_at: time('When the prompt was created.'),
    updated_at: time('When the newest version of the prompt was created.'),
    figures: Type.Optional(
      Type.Object(
        {
          calls: count('Spans that name the prompt and started in this period.'),
          errors: count('Those with an error.'),
          cost: orNull(number('US dollars, of those whose cost is known; null if none is.')),
          feedback: count("All feedback ever given, on completions and on judges' evaluations of them."),
        },
        { description: 'Only with `include=figures`.' },
      ),
    ),
  },
  { $id: 'PromptSummary', description: 'A prompt without its contents.' },
);
export type PromptSummaryRead = Static<typeof PromptSummaryRead>;
