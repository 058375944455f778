import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../engine/errors.js';
import { TagName } from '../engine/schema/tag.js';
import { formatTimestamp } from '../engine/timestamp.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import { LATEST, type PromptSummary } from '../features/prompts/prompt.js';
import { RUNNING_TAG } from '../features/prompts/running-version.js';
import { Slug, VersionNumber } from '../features/prompts/schema.js';
import { withTurns } from '../engine/work/portions.js';
import { queryOf } from '../http/query.js';
import { defineRoute, jsonBody } from '../http/route.js';
import { renderError } from './errors.js';
import {
  CreatePrompt,
  createPrompt,
  NewLabels,
  PromptRead,
  tagsOf,
  toPromptRead,
  VersionOfPrompt,
  wordsIn,
} from './prompts.js';
import { metaOf, PageMeta, pageParameters } from './page.js';
import { TAG } from './tag.js';

export type LangfusePrompts = Pick<
  PromptService,
  'fetch' | 'find' | 'ensureTagged' | 'list' | 'count' | 'tags' | 'deleteTagged'
>;

/** Prompts, as clients of Langfuse fetch and write them: their labels are tags. */
export function langfusePromptRoutes(prompts: LangfusePrompts) {
  return [
    getPromptRoute(prompts),
    listPromptsRoute(prompts),
    createPromptRoute(prompts),
    updateLabelsRoute(prompts),
    deletePromptRoute(prompts),
  ];
}

const selection = queryOf(
  Type.Object({
    version: Type.Optional(
      Type.Integer({ ...VersionNumber, description: 'Number of the version; overrides `label`.' }),
    ),
    label: Type.String({ ...TagName, default: RUNNING_TAG, description: 'Tag of the version.' }),
    resolve: Type.Optional(Type.Boolean({ description: 'Without effect: prompts do not include each other.' })),
  }),
);

function getPromptRoute(prompts: Pick<PromptService, 'fetch' | 'tags'>) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/prompts/:prompt_name+',
    operationId: 'getLangfusePrompt',
    summary: 'Get a version of a prompt (Langfuse)',
    description: 'Returns the version with this number or tag. A client of Langfuse falls back if there is none (404).',
    tag: TAG,
    access: 'key',
    scopes: ['prompts:read'],
    params: Type.Object({ prompt_name: Slug }),
    query: selection,
    responses: { 200: { description: 'The version.', schema: PromptRead } },
    errors: ['not_found', 'unavailable'],
    renderError,
    handle({ principal: { project_id }, params: { prompt_name }, query: { version, label } }) {
      const found = prompts.fetch(
        project_id,
        prompt_name,
        version === undefined ? { by: 'tag', tag: label } : { by: 'number', version },
      );
      return { status: 200, body: toPromptRead(prompts, project_id, found) };
    },
  });
}

function createPromptRoute(prompts: Pick<PromptService, 'ensureTagged' | 'tags'>) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/v2/prompts',
    operationId: 'createLangfusePrompt',
    summary: 'Create a version of a prompt (Langfuse)',
    description: 'Creates a version, unless there is one with the same content, and points the labels to it.',
    tag: TAG,
    access: 'key',
    scopes: ['prompts:write'],
    body: jsonBody(CreatePrompt, { lenient: true }),
    responses: { 201: { description: 'The version.', schema: PromptRead } },
    errors: ['conflict', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      const made = await createPrompt(prompts, principal, body);
      return { status: 201, body: toPromptRead(prompts, principal.project_id, made) };
    },
  });
}

function updateLabelsRoute(prompts: Pick<PromptService, 'find' | 'tags'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/api/public/v2/prompts/:prompt_name+/versions/:version',
    operationId: 'updateLangfusePromptLabels',
    summary: 'Move labels to a version of a prompt (Langfuse)',
    description: 'Points the labels to the version; others that point to it stay.',
    tag: TAG,
    access: 'key',
    scopes: ['prompts:write'],
    params: VersionOfPrompt,
    body: jsonBody(NewLabels, { lenient: true }),
    responses: { 200: { description: 'The version.', schema: PromptRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    renderError,
    handle({ principal, params: { prompt_name, version }, body }) {
      const found = prompts.find(principal.project_id, prompt_name, { by: 'number', version });
      prompts.tags.pinAll(principal, found, tagsOf(body.newLabels));
      return { status: 200, body: toPromptRead(prompts, principal.project_id, found) };
    },
  });
}

const deletion = queryOf(
  Type.Object({
    version: Type.Optional(Type.Integer({ ...VersionNumber, description: 'Only the version with this number.' })),
    label: Type.Optional({ ...TagName, description: 'Only the version with this tag; `version` overrides it.' }),
  }),
);

function deletePromptRoute(prompts: Pick<PromptService, 'deleteTagged'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/api/public/v2/prompts/:prompt_name+',
    operationId: 'deleteLangfusePrompt',
    scopes: ['prompts:write'],
    summary: 'Delete a prompt or a version (Langfuse)',
    description:
      'Deletes all versions of the prompt, or one, with the tags that point to them. Returns 409 and deletes nothing if a judge or ' +
      'feedback needs one of them.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ prompt_name: Slug }),
    query: deletion,
    responses: { 204: { description: 'It is deleted.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    renderError,
    handle({ principal, params: { prompt_name }, query: { version, label } }) {
      const byNumber = version === undefined ? null : ({ by: 'number', version } as const);
      const byTag = label === undefined ? null : ({ by: 'tag', tag: label } as const);
      prompts.deleteTagged(principal, prompt_name, byNumber ?? byTag);
      return { status: 204 };
    },
  });
}

/** Prompts that are looked through at once, and versions that are named of one. */
const MAX_AT_ONCE = 1000;

const listQuery = queryOf(
  Type.Object({
    name: Type.Optional({ ...Slug, description: 'Only the prompt with this name.' }),
    label: Type.Optional({ ...TagName, description: 'Only prompts with this tag.' }),
    ...pageParameters('prompts', 1_000_000),
  }),
);

const Listed = Type.Object(
  {
    name: Type.String({ description: 'Slug of the prompt.' }),
    type: Type.String({ description: '`text` or `chat`: that of the newest version.' }),
    versions: Type.Array(Type.Integer(), { description: 'Numbers of the newest 1,000 versions, ascending.' }),
    labels: Type.Array(Type.String(), { description: 'Tags of the prompt, `latest` among them.' }),
    tags: Type.Array(Type.String(), { description: 'Words of the newest version.' }),
    lastUpdatedAt: Type.String({ description: 'When the newest version was created.' }),
    lastConfig: Type.Record(Type.String(), Type.Unknown(), { description: 'Config of the newest version.' }),
  },
  { $id: 'LangfusePromptMeta', description: 'A prompt without its contents.' },
);

const ListedPage = Type.Object(
  {
    data: Type.Array(Listed, { description: 'The prompts.' }),
    meta: PageMeta,
  },
  { $id: 'LangfusePrompts', description: 'A page of prompts, as clients of Langfuse read it.' },
);

function listPromptsRoute(prompts: Pick<PromptService, 'list' | 'count' | 'find' | 'tags'>) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/prompts',
    operationId: 'listLangfusePrompts',
    summary: 'List prompts (Langfuse)',
    description: 'Returns the prompts of the project by name, with their versions and labels.',
    tag: TAG,
    access: 'key',
    scopes: ['prompts:read'],
    query: listQuery,
    responses: { 200: { description: 'The prompts.', schema: ListedPage } },
    errors: ['unavailable'],
    renderError,
    async handle({ principal: { project_id }, query: { page, limit, ...only } }) {
      const offset = (page - 1) * limit;
      const { total, found } = await pageOf(prompts, project_id, only, { limit, offset });
      const data: Static<typeof Listed>[] = [];
      for await (const prompt of withTurns(found)) data.push(...listed(prompts, project_id, prompt));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, total) } };
    },
  });
}

async function pageOf(
  prompts: Pick<PromptService, 'list' | 'count'>,
  projectId: string,
  { name, label }: { readonly name?: string | undefined; readonly label?: string | undefined },
  window: { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly found: readonly PromptSummary[] }> {
  if (name === undefined && label === undefined)
    return { total: prompts.count(projectId), found: await prompts.list(projectId, window) };
  const matching: PromptSummary[] = [];
  for (let offset = 0; ; offset += MAX_AT_ONCE) {
    const portion = await prompts.list(projectId, { limit: MAX_AT_ONCE, offset }, name ?? '');
    matching.push(
      ...portion.filter(
        ({ slug, tags }) =>
          (name === undefined || slug === name) && (label === undefined || tags.some(({ tag }) => tag === label)),
      ),
    );
    if (portion.length < MAX_AT_ONCE) break;
  }
  const { offset, limit } = window;
  return { total: matching.length, found: matching.slice(offset, offset + limit) };
}

/** Nothing, where the prompt was deleted meanwhile. */
function listed(
  prompts: Pick<PromptService, 'find' | 'tags'>,
  projectId: string,
  { slug, tags, updated_at }: PromptSummary,
): Static<typeof Listed>[] {
  try {
    const newest = prompts.find(projectId, slug, { by: 'tag', tag: LATEST });
    const made = prompts.tags.history(projectId, slug, LATEST, { limit: MAX_AT_ONCE, offset: 0 });
    return [
      {
        name: slug,
        type: newest.messages === null ? 'text' : 'chat',
        versions: made.flatMap(({ version }) => version ?? []).reverse(),
        labels: tags.map(({ tag }) => tag),
        tags: wordsIn(newest.metadata['tags']),
        lastUpdatedAt: formatTimestamp(updated_at),
        lastConfig: newest.config,
      },
    ];
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return [];
    throw error;
  }
}
