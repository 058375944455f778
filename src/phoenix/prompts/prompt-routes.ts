import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { TagName } from '../../engine/schema/tag.js';
import { uuid } from '../../engine/schema/parts.js';
import type { PromptService } from '../../features/prompts/prompt-service.js';
import { LATEST, type SelectedVersion } from '../../features/prompts/prompt.js';
import { Slug } from '../../features/prompts/schema.js';
import { MAX_ANSWER_BYTES } from '../../facade/answer.js';
import { inSentNames } from '../../facade/sent-names.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { cursor, cursorBehind, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';
import { toEnsure, toVersionRead, VersionRead, VersionSent } from './version.js';

export type PhoenixPrompts = Pick<
  PromptService,
  'fetch' | 'find' | 'findById' | 'ensure' | 'list' | 'count' | 'tags' | 'deleteTagged'
>;

/** Prompts, as clients of Phoenix fetch and write them. */
export function promptRoutes(prompts: PhoenixPrompts) {
  return [
    listRoute(prompts),
    createRoute(prompts),
    latestRoute(prompts),
    taggedRoute(prompts),
    listVersionsRoute(prompts),
    versionRoute(prompts),
    listTagsRoute(prompts),
    tagRoute(prompts),
    deleteRoute(prompts),
  ];
}

const read = { tag: TAG, access: 'key', scopes: ['prompts:read'] } as const;
const write = { tag: TAG, access: 'key', scopes: ['prompts:write'] } as const;
const OfPrompt = Type.Object({ prompt_name: Slug });
const OfVersion = Type.Object({ phoenix_version_id: uuid('Id of the version.') });
const Version = Type.Object(
  { data: VersionRead },
  { $id: 'PhoenixPromptAnswer', description: 'A version of a prompt.' },
);
const oneVersion = { 200: { description: 'The version.', schema: Version } } as const;
const found = (version: SelectedVersion) => ({ status: 200, body: { data: toVersionRead(version) } }) as const;

const PromptRead = Type.Object(
  {
    id: uuid('Id of the prompt.'),
    name: Type.String({ description: 'Slug of the prompt.' }),
    description: Type.Null({ description: 'Always null: versions have descriptions.' }),
    source_prompt_id: Type.Null({ description: 'Always null.' }),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Empty.' }),
  },
  { description: 'A prompt.' },
);
const PromptPage = Type.Object(
  { data: Type.Array(PromptRead, { description: 'A page of prompts, by name.' }), next_cursor: nextCursor },
  { $id: 'PhoenixPrompts', description: 'A page of prompts.' },
);

function listRoute(prompts: Pick<PromptService, 'list' | 'count'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompts`,
    operationId: 'listPhoenixPrompts',
    summary: 'List prompts (Phoenix)',
    description: 'Lists prompts by name.',
    query: queryOf(Type.Object({ limit: limit('prompts'), cursor })),
    responses: { 200: { description: 'The prompts.', schema: PromptPage } },
    errors: ['unavailable'],
    async handle({ principal: { project_id }, query: { limit: most, cursor: at } }) {
      const offset = offsetAt(at);
      const listed = await prompts.list(project_id, { limit: most, offset });
      const nothing = { description: null, source_prompt_id: null, metadata: {} };
      const data = listed.map(({ id, slug }) => ({ id, name: slug, ...nothing }));
      const end = offset + data.length;
      return { status: 200, body: { data, next_cursor: cursorBehind(end, end >= prompts.count(project_id)) } };
    },
  });
}

const CreateInput = Type.Object(
  {
    prompt: Type.Object(
      {
        name: Slug,
        description: optional(Type.String({ description: 'Kept in `metadata` of the version.' })),
        metadata: optional(
          Type.Record(Type.String(), Type.Unknown(), { description: 'Kept in `metadata` of the version.' }),
        ),
      },
      { description: 'The prompt, which is created if there is none.' },
    ),
    version: VersionSent,
  },
  { $id: 'PhoenixPromptInput', description: 'A version of a prompt, as clients of Phoenix send it.' },
);

function createRoute(prompts: Pick<PromptService, 'ensure'>) {
  return defineRoute({
    ...write,
    method: 'POST',
    path: `${BASE}/v1/prompts`,
    operationId: 'createPhoenixPrompt',
    summary: 'Create a version of a prompt (Phoenix)',
    description: 'Creates a version, unless there is one with the same content.',
    body: jsonBody(CreateInput, { lenient: true }),
    responses: oneVersion,
    errors: ['conflict', 'unavailable'],
    async handle({ principal, body }) {
      const make = () => prompts.ensure(principal, body.prompt.name, ensured(body));
      return found(await inSentNames(make, nameOf));
    },
  });
}

function ensured({ prompt: { description, metadata }, version }: Static<typeof CreateInput>) {
  const made = toEnsure(version);
  const kept = {
    ...(made['metadata'] as object),
    ...(description != null && description !== '' && { prompt_description: description }),
    ...(metadata != null && Object.keys(metadata).length > 0 && { prompt_metadata: metadata }),
  };
  return { ...made, metadata: kept };
}

/** What the client calls a part of a version. */
function nameOf(pointer: string): string {
  if (pointer.startsWith('/messages')) return `/version/template${pointer}`;
  return pointer.replace(/^\/(config|model_id).*/, '/version');
}

function deleteRoute(prompts: Pick<PromptService, 'deleteTagged'>) {
  return defineRoute({
    ...write,
    method: 'DELETE',
    path: `${BASE}/v1/prompts/:prompt_name`,
    operationId: 'deletePhoenixPrompt',
    summary: 'Delete a prompt (Phoenix)',
    description:
      'Deletes all versions of the prompt with their tags. Returns 409 and deletes nothing if a judge or feedback needs one of them.',
    params: OfPrompt,
    responses: { 204: { description: 'It is deleted.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params }) {
      prompts.deleteTagged(principal, params.prompt_name, null);
      return { status: 204 };
    },
  });
}

function latestRoute(prompts: Pick<PromptService, 'fetch'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompts/:prompt_name/latest`,
    operationId: 'getLatestPhoenixPrompt',
    summary: 'Get the newest version of a prompt (Phoenix)',
    description: 'Returns the newest version.',
    params: OfPrompt,
    responses: oneVersion,
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) =>
      found(prompts.fetch(principal.project_id, params.prompt_name, { by: 'tag', tag: LATEST })),
  });
}

function taggedRoute(prompts: Pick<PromptService, 'fetch'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompts/:prompt_name/tags/:tag`,
    operationId: 'getTaggedPhoenixPrompt',
    summary: 'Get a version of a prompt by its tag (Phoenix)',
    description: 'Returns the version that the tag points to.',
    params: Type.Object({ prompt_name: Slug, tag: TagName }),
    responses: oneVersion,
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params: { prompt_name, tag } }) =>
      found(prompts.fetch(principal.project_id, prompt_name, { by: 'tag', tag })),
  });
}

const VersionPage = Type.Object(
  { data: Type.Array(VersionRead, { description: 'A page of versions, newest first.' }), next_cursor: nextCursor },
  { $id: 'PhoenixPromptVersions', description: 'A page of versions of a prompt.' },
);

function listVersionsRoute(prompts: Pick<PromptService, 'find' | 'tags'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompts/:prompt_name/versions`,
    operationId: 'listPhoenixPromptVersions',
    summary: 'List versions of a prompt (Phoenix)',
    description: 'Lists versions, newest first. A page of large versions has fewer.',
    bulk: 'gathered',
    params: OfPrompt,
    query: queryOf(Type.Object({ limit: limit('versions', 100), cursor })),
    responses: { 200: { description: 'The versions.', schema: VersionPage } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params: { prompt_name }, query: { limit: most, cursor: at } }) {
      const offset = offsetAt(at);
      const numbers = prompts.tags.history(project_id, prompt_name, LATEST, { limit: most, offset });
      const data: Static<typeof VersionRead>[] = [];
      let [bytes, end] = [0, offset];
      for (const { version } of numbers) {
        if (bytes > MAX_ANSWER_BYTES) break;
        end += 1;
        if (version === null) continue;
        const one = prompts.find(project_id, prompt_name, { by: 'number', version });
        bytes += one.content.length + JSON.stringify(one.config).length;
        data.push(toVersionRead(one));
      }
      const isLast = numbers.length < most && end === offset + numbers.length;
      return { status: 200, body: { data, next_cursor: cursorBehind(end, isLast) } };
    },
  });
}

function versionRoute(prompts: Pick<PromptService, 'findById'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompt_versions/:phoenix_version_id`,
    operationId: 'getPhoenixPromptVersion',
    summary: 'Get a version of a prompt by its id (Phoenix)',
    description: 'Returns the version.',
    params: OfVersion,
    responses: oneVersion,
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => found(prompts.findById(principal.project_id, params.phoenix_version_id)),
  });
}

const TagPage = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The name.' }),
        name: Type.String({ description: 'Name of the tag.' }),
        description: Type.Null({ description: 'Always null.' }),
      }),
      { description: 'The tags, by name.' },
    ),
    next_cursor: nextCursor,
  },
  { $id: 'PhoenixPromptTags', description: 'The tags that point to a version.' },
);

function listTagsRoute(prompts: Pick<PromptService, 'findById' | 'tags'>) {
  return defineRoute({
    ...read,
    method: 'GET',
    path: `${BASE}/v1/prompt_versions/:phoenix_version_id/tags`,
    operationId: 'listPhoenixPromptTags',
    summary: 'List the tags of a version of a prompt (Phoenix)',
    description: 'Lists all tags that point to the version, but for `latest`.',
    params: OfVersion,
    responses: { 200: { description: 'The tags.', schema: TagPage } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      const names = prompts.tags.of(prompts.findById(principal.project_id, params.phoenix_version_id));
      const data = names.filter((name) => name !== LATEST).map((name) => ({ id: name, name, description: null }));
      return { status: 200, body: { data, next_cursor: null } };
    },
  });
}

const TagInput = Type.Object(
  { name: TagName, description: optional(Type.String({ description: 'Ignored.' })) },
  { $id: 'PhoenixPromptTagInput', description: 'A tag to point to the version.' },
);

function tagRoute(prompts: Pick<PromptService, 'findById' | 'tags'>) {
  return defineRoute({
    ...write,
    method: 'POST',
    path: `${BASE}/v1/prompt_versions/:phoenix_version_id/tags`,
    operationId: 'tagPhoenixPromptVersion',
    summary: 'Point a tag to a version of a prompt (Phoenix)',
    description: 'Points the tag to the version; another version of the prompt loses it.',
    params: OfVersion,
    body: jsonBody(TagInput, { lenient: true }),
    responses: { 204: { description: 'The tag points to the version.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      prompts.tags.pinAll(principal, prompts.findById(principal.project_id, params.phoenix_version_id), [body.name]);
      return { status: 204 };
    },
  });
}
