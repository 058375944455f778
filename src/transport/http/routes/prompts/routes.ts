import { Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import { withTurns } from '../../../../domain/portions.js';
import type { PromptFigureService } from '../../../../domain/prompt-figures/prompt-figures.js';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import type { SelectedVersion } from '../../../../domain/prompt/prompt.js';
import { BindInput, ContentHash, EnsureInput, PinInput, Tag, VersionNumber } from '../../../../domain/prompt/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import {
  checkFigures,
  figuresSince,
  MAX_WITH_FIGURES,
  TOTAL_COUNT_HEADERS,
  totalCountHeader,
  withFigures,
} from '../../figures-query.js';
import { page } from '../../page.js';
import { queryOf } from '../../query.js';
import { defineRoute, jsonBody, listOf, uncheckedJsonBody } from '../../route.js';
import { pageOfThousand } from '../parameters.js';
import {
  rememberVersionJson,
  toModelRead,
  toMoveRead,
  toSummaryRead,
  toVersionRead,
  type VersionJson,
} from './presenters.js';
import {
  ModelBindingRead,
  ProjectParams,
  ProjectPromptParams,
  PromptParams,
  PromptSummaryRead,
  PromptVersionRead,
  selectorOf,
  TAG,
  TagEntryRead,
  TagMoveRead,
  TagParams,
  TaskParams,
  VersionParams,
} from './schema.js';

/** Everything about prompts, their versions and tags. */
export function promptRoutes(prompts: PromptService, figures: PromptFigureService) {
  const versionJson = rememberVersionJson();
  return [
    getPromptRoute(prompts, versionJson),
    ensureVersionRoute(prompts),
    getVersionByHashRoute(prompts),
    getLatestVersionRoute(prompts, versionJson),
    getVersionModelRoute(prompts),
    listPromptsRoute(prompts, figures),
    listVersionsRoute(prompts),
    bindModelRoute(prompts),
    deleteVersionRoute(prompts),
    listTagsRoute(prompts),
    pinTagRoute(prompts),
    deleteTagRoute(prompts),
    listTagHistoryRoute(prompts),
  ];
}

const selectorQuery = queryOf(
  Type.Object({
    version: Type.Optional(Type.Integer({ ...VersionNumber, description: 'Number of the version; overrides `tag`.' })),
    tag: Type.String({ ...Tag, default: 'latest', description: 'Tag of the version, such as `production`.' }),
  }),
);

function getPromptRoute(prompts: Pick<PromptService, 'fetch'>, versionJson: VersionJson) {
  return defineRoute({
    method: 'GET',
    path: '/v1/prompts/:prompt_slug',
    operationId: 'getPrompt',
    summary: 'Get a version of a prompt',
    description:
      'Returns the newest version, or the one with this number or tag. It is served from memory until the next ' +
      'write, and reflects every write acknowledged before.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    query: selectorQuery,
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, query: { version, tag } }) => ({
      status: 200,
      json: versionJson(prompts.fetch(principal.project_id, params.prompt_slug, selectorOf(version, tag))),
    }),
  });
}

function ensureVersionRoute(prompts: Pick<PromptService, 'ensure'>) {
  return defineRoute({
    method: 'POST',
    path: '/v1/tasks/:task_name/prompt/versions/ensure',
    operationId: 'ensurePromptVersion',
    summary: 'Ensure a version',
    description:
      'Returns the version with this content. If there is none, it is created as the newest; the first version ' +
      'creates the prompt. An existing version is returned unchanged, including its model and metadata.',
    tag: TAG,
    access: 'key',
    params: TaskParams,
    body: uncheckedJsonBody(EnsureInput, { lenient: true }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toVersionRead(prompts.ensure(principal, params.task_name, body)),
    }),
  });
}

function getVersionByHashRoute(prompts: Pick<PromptService, 'find'>) {
  return defineRoute({
    method: 'GET',
    path: '/v1/tasks/:task_name/prompt/versions/by-hash/:content_hash',
    operationId: 'getPromptVersionByHash',
    summary: 'Get a version by the hash of its content',
    description: 'Returns the version of the prompt whose content has this SHA-256.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ ...TaskParams.properties, content_hash: ContentHash }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toVersionRead(
        prompts.find(principal.project_id, params.task_name, { by: 'hash', hash: params.content_hash.toLowerCase() }),
      ),
    }),
  });
}

function getLatestVersionRoute(prompts: Pick<PromptService, 'fetch'>, versionJson: VersionJson) {
  return defineRoute({
    method: 'GET',
    path: '/v1/tasks/:task_name/prompt/latest',
    operationId: 'getLatestPromptVersion',
    summary: 'Get the newest version',
    description: 'Returns the newest version of the prompt.',
    tag: TAG,
    access: 'key',
    params: TaskParams,
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      json: versionJson(prompts.fetch(principal.project_id, params.task_name, selectorOf(undefined, 'latest'))),
    }),
  });
}

function getVersionModelRoute(prompts: Pick<PromptService, 'model'>) {
  return defineRoute({
    method: 'GET',
    path: '/v1/prompt-versions/:version_id/model',
    operationId: 'getPromptVersionModel',
    summary: 'Get the model of a version',
    description:
      'Returns the bound model and its provider: the part before the `/` if that is a known provider, else the ' +
      'provider known for a model of this name, else null.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ version_id: uuid('Id of the version.') }),
    responses: { 200: { description: 'The model.', schema: ModelBindingRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toModelRead(prompts.model(principal.project_id, params.version_id)),
    }),
  });
}

const MAX_LIMIT = 1000;

const ListQuery = Type.Object({
  ...page({ maxLimit: MAX_LIMIT, defaultLimit: MAX_LIMIT }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `Maximum number of items. Default: ${MAX_LIMIT}; with \`include=figures\` ${MAX_WITH_FIGURES}.`,
    }),
  ),
  q: Type.String({
    maxLength: 200,
    default: '',
    description: 'Only prompts whose slug contains this text, ignoring case.',
  }),
  ...withFigures,
});

const listQuery = queryOf(ListQuery, {
  check: checkFigures,
  to: ({ q, count, limit, offset, ...asked }) => {
    const since = figuresSince(asked);
    return { q, count, since, window: { limit: limit ?? (since === null ? MAX_LIMIT : MAX_WITH_FIGURES), offset } };
  },
});

function listPromptsRoute(prompts: Pick<PromptService, 'list' | 'count'>, figures: Pick<PromptFigureService, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts',
    operationId: 'listPrompts',
    summary: 'List the prompts of the project',
    description:
      'Returns slug, number of versions, newest version and tags of each prompt, sorted by slug. With ' +
      '`include=figures`, each also has its calls, errors and cost, which are those of `GET /spans?prompt_slug=` ' +
      'with `started_after`, and the amount of feedback.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: listQuery,
    responses: {
      200: { ...listOf(PromptSummaryRead, 'The prompts.'), headers: TOTAL_COUNT_HEADERS },
    },
    errors: ['unavailable'],
    async handle({ params: { project_id }, query: { q, count, since, window }, signal }) {
      const found = await prompts.list(project_id, window, q);
      const headers = totalCountHeader(count ? prompts.count(project_id, q) : null);
      const listed = found.map(toSummaryRead);
      if (since === null) return { status: 200, headers, body: listed };
      const figured = await figures.of(project_id, found, since, signal);
      const body = figured.flatMap((of, index) => {
        const prompt = listed[index];
        return prompt === undefined ? [] : [{ ...prompt, figures: of }];
      });
      return { status: 200, headers, body };
    },
  });
}

export function listVersionsRoute(prompts: Pick<PromptService, 'versions'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/versions',
    operationId: 'listPromptVersions',
    summary: 'List the versions of a prompt',
    description: 'Returns every version with its content, ascending by number.',
    tag: TAG,
    access: 'key',
    params: ProjectPromptParams,
    responses: {
      200: listOf(PromptVersionRead, 'The versions.'),
    },
    errors: ['not_found', 'overloaded', 'unavailable'],
    bulk: true,
    handle({ params: { project_id, prompt_slug } }) {
      // Written version by version: all contents together may be larger than memory.
      const stream = Readable.from(jsonArray(prompts.versions(project_id, prompt_slug)), { objectMode: false });
      return { status: 200, stream, contentType: 'application/json' };
    },
  });
}

async function* jsonArray(versions: Iterable<SelectedVersion>): AsyncGenerator<string> {
  let before = '[';
  for await (const version of withTurns(versions)) {
    yield before + JSON.stringify(toVersionRead(version));
    before = ',\n';
  }
  yield before === '[' ? '[]' : ']';
}

function bindModelRoute(prompts: Pick<PromptService, 'bindModel'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/prompts/:prompt_slug/versions/:version',
    operationId: 'bindPromptVersionModel',
    summary: 'Bind a model to a version',
    description: 'Binds a model to the version; null unbinds it. Nothing else of a version ever changes.',
    tag: TAG,
    access: 'key',
    params: VersionParams,
    body: jsonBody(BindInput, { lenient: true }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, version }, body }) => ({
      status: 200,
      body: toVersionRead(prompts.bindModel(project_id, prompt_slug, version, body.model_id)),
    }),
  });
}

function deleteVersionRoute(prompts: Pick<PromptService, 'deleteVersion'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/prompts/:prompt_slug/versions/:version',
    operationId: 'deletePromptVersion',
    summary: 'Delete a version of a prompt',
    description:
      'Deletes a version that is not in use; its number is never reused. 409 names what uses it: a pinned tag, a ' +
      'judge that runs with it, or an optimization of it that has not ended. You can delete the newest version: ' +
      '`latest` then moves to the one before. Deleting the only version deletes the prompt; this gets 409 while the ' +
      'prompt has feedback, feedback links or optimizations, or judges filter by it. Completions that name the ' +
      'version by its id stay, but count as completions of the prompt only if they also name the prompt. ' +
      'Evaluations made with the version still name it.',
    tag: TAG,
    access: 'key',
    params: VersionParams,
    responses: { 204: { description: 'The version is deleted.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ params: { project_id, prompt_slug, version } }) {
      prompts.deleteVersion(project_id, prompt_slug, version);
      return { status: 204 };
    },
  });
}

function listTagsRoute(prompts: Pick<PromptService, 'listTags'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/tags',
    operationId: 'listPromptTags',
    summary: 'List the tags of a prompt',
    description: 'Returns the version that each tag points to: `latest` first, then sorted by name.',
    tag: TAG,
    access: 'key',
    params: ProjectPromptParams,
    responses: {
      200: listOf(TagEntryRead, 'The tags.'),
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug } }) => ({
      status: 200,
      body: prompts.listTags(project_id, prompt_slug),
    }),
  });
}

function pinTagRoute(prompts: Pick<PromptService, 'pin'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag:pin',
    operationId: 'pinPromptTag',
    summary: 'Pin a tag to a version',
    description:
      'From now on, the tag points to this version. The history of the tag keeps every pin. `latest` automatically ' +
      'follows the newest version and cannot be pinned (409). A prompt has at most 1,000 tags, including removed ' +
      'ones; pinning a further one is refused (409).',
    tag: TAG,
    access: 'key',
    params: TagParams,
    body: jsonBody(PinInput, { lenient: true }),
    responses: { 200: { description: 'The tag and the version that it points to.', schema: TagEntryRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { prompt_slug, tag }, body: { version } }) => ({
      status: 200,
      body: prompts.pin(principal, prompt_slug, { tag, version }),
    }),
  });
}

function deleteTagRoute(prompts: Pick<PromptService, 'removeTag'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag',
    operationId: 'deletePromptTag',
    summary: 'Remove a tag of a prompt',
    description:
      'From now on, the tag points to nothing and no longer protects a version from deletion. Its history stays, ' +
      'with the removal as an entry, and you can pin it again. Without `production`, judges and optimizations use ' +
      'the newest version. `latest` automatically follows the newest version and cannot be removed (409).',
    tag: TAG,
    access: 'key',
    params: TagParams,
    responses: { 204: { description: 'The tag is removed.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params: { prompt_slug, tag } }) {
      prompts.removeTag(principal, prompt_slug, tag);
      return { status: 204 };
    },
  });
}

function listTagHistoryRoute(prompts: Pick<PromptService, 'tagHistory'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag/history',
    operationId: 'listPromptTagHistory',
    summary: 'List the history of a tag',
    description:
      'Returns every pin of the tag, newest first: version, time, user. A removal of the tag has null as the ' +
      'version. For `latest`, returns every new version.',
    tag: TAG,
    access: 'key',
    params: TagParams,
    query: pageOfThousand,
    responses: {
      200: { description: 'The moves.', schema: Type.Array(TagMoveRead, { description: 'The moves of the tag.' }) },
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, tag }, query }) => ({
      status: 200,
      body: prompts.tagHistory(project_id, prompt_slug, tag, query).map(toMoveRead),
    }),
  });
}
