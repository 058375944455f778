import { Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import { withTurns } from '../../../engine/work/portions.js';
import type { PromptService } from '../prompt-service.js';
import type { SelectedVersion } from '../prompt.js';
import { BindInput, ContentHash, EnsureInput } from '../schema.js';
import { uuid } from '../../../engine/schema/parts.js';
import { defineRoute, jsonBody, listOf, uncheckedJsonBody } from '../../../http/route.js';
import { toModelRead, toVersionRead, type VersionJson } from './presenters.js';
import {
  ModelBindingRead,
  ProjectPromptParams,
  PromptVersionRead,
  selectorOf,
  TAG,
  TaskParams,
  VersionParams,
} from './schema.js';

/** Versions of prompts, and the models they are bound to. */
export function versionRoutes(prompts: PromptService, versionJson: VersionJson) {
  return [
    ensureVersionRoute(prompts),
    getVersionByHashRoute(prompts),
    getLatestVersionRoute(prompts, versionJson),
    getVersionModelRoute(prompts),
    listVersionsRoute(prompts),
    bindModelRoute(prompts),
    deleteVersionRoute(prompts),
  ];
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
    handle: ({ principal, params: { prompt_slug, version }, body }) => ({
      status: 200,
      body: toVersionRead(prompts.bindModel(principal, prompt_slug, version, body.model_id)),
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
    handle({ principal, params: { prompt_slug, version } }) {
      prompts.deleteVersion(principal, prompt_slug, version);
      return { status: 204 };
    },
  });
}
