import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { ScoreName } from '../../../engine/traces/model/score/schema.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf, uncheckedJsonBody } from '../../../http/route.js';
import type { Exports } from '../../exports/exports.js';
import { exportRoute } from '../../exports/http/export-route.js';
import type { ScoreDefinition } from '../definition.js';
import { MAX_SCORES, ScoreDefinitionInput, ScoreDefinitionRead, ScoreInput, ScoreRead } from '../schema.js';
import type { ScoreService } from '../score-service.js';
import { TAG, toScoreRead } from './presenters.js';
import { exportedScores } from './exported-scores.js';
import { listQuery } from './list-query.js';
import { signalRoutes } from './signal-routes.js';

/** Scores, and the definitions of their values. */
export function scoreRoutes(scores: ScoreService, exports: Exports) {
  return [
    postScoresRoute(scores),
    ...signalRoutes(scores),
    listScoresRoute(scores),
    exportRoute(exportedScores(scores), exports),
    getScoreRoute(scores),
    deleteScoreRoute(scores),
    listDefinitionsRoute(scores),
    putDefinitionRoute(scores),
    getDefinitionRoute(scores),
    deleteDefinitionRoute(scores),
  ];
}

const ScoresInput = Type.Union([Type.Array(ScoreInput, { maxItems: MAX_SCORES }), ScoreInput], {
  description: `A score, or an array of up to ${MAX_SCORES}.`,
});

function postScoresRoute(scores: Pick<ScoreService, 'post'>) {
  return defineRoute({
    method: 'POST',
    path: '/scores',
    operationId: 'postScores',
    summary: 'Store scores',
    description:
      'Stores one score or an array of scores, all or none. A score with the same entity, name, source and author replaces ' +
      'the earlier one, so a retry changes nothing. Once the call responds, the scores are durable and in every list. A value ' +
      'that does not fit the definition of its name is refused; a key that may only send is not told what the definition says.',
    tag: TAG,
    access: 'key',
    body: uncheckedJsonBody(ScoresInput),
    responses: {
      200: { description: 'The scores as stored, in the order of the request.', schema: Type.Array(ScoreRead) },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body }) {
      return { status: 200, body: (await scores.post(principal, body)).map(toScoreRead) };
    },
  });
}

function listScoresRoute(scores: Pick<ScoreService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/scores',
    operationId: 'listScores',
    summary: 'List scores',
    description:
      "Lists scores of the key's project that match every given filter. Includes every write acknowledged before the call.",
    tag: TAG,
    access: 'key',
    bulk: true,
    query: listQuery,
    responses: {
      200: {
        ...listOf(ScoreRead, 'A page of scores.'),
        headers: { 'X-Total-Count': 'Number of all matches; only with `count=true`.' },
      },
    },
    errors: ['invalid', 'unavailable'],
    async handle({ principal, query, signal }) {
      const { scores: found, total } = await scores.list(principal.project_id, query, signal);
      const headers = total === null ? {} : { headers: { 'X-Total-Count': String(total) } };
      return { status: 200, body: found.map(toScoreRead), ...headers };
    },
  });
}

const ScoreParams = Type.Object({ id: uuid('Id of the score.') });

function getScoreRoute(scores: Pick<ScoreService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/scores/:id',
    operationId: 'getScore',
    summary: 'Get a score',
    description: 'Returns a score by its id.',
    tag: TAG,
    access: 'key',
    params: ScoreParams,
    responses: { 200: { description: 'The score.', schema: ScoreRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params, signal }) {
      return { status: 200, body: toScoreRead(await scores.get(principal.project_id, params.id, signal)) };
    },
  });
}

function deleteScoreRoute(scores: Pick<ScoreService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/scores/:id',
    operationId: 'deleteScore',
    summary: 'Delete a score',
    description: 'Deletes a score. If it is written again, it is a new score with the same id.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: ScoreParams,
    responses: { 204: { description: 'The score is deleted.' } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    async handle({ principal, params }) {
      await scores.remove(principal, params.id);
      return { status: 204 };
    },
  });
}

function listDefinitionsRoute(scores: Pick<ScoreService, 'definitions'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/score-definitions',
    operationId: 'listScoreDefinitions',
    summary: 'List score definitions',
    description: "Returns the project's score definitions, sorted by name.",
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(ScoreDefinitionRead, 'The definitions.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({
      status: 200,
      body: scores.definitions(params.project_id).map(toDefinitionRead),
    }),
  });
}

const DefinitionParams = Type.Object({ project_id, name: ScoreName });

function putDefinitionRoute(scores: Pick<ScoreService, 'define'>) {
  return defineRoute({
    method: 'PUT',
    path: '/projects/:project_id/score-definitions/:name+',
    operationId: 'putScoreDefinition',
    summary: 'Set a score definition',
    description:
      'Sets what values the scores of a name may have. Stored scores do not change. The kind cannot change while there are ' +
      'scores of the name (409).',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: DefinitionParams,
    body: jsonBody(ScoreDefinitionInput),
    responses: {
      200: { description: 'The definition was replaced.', schema: ScoreDefinitionRead },
      201: { description: 'The definition is new.', schema: ScoreDefinitionRead },
    },
    errors: ['conflict', 'invalid', 'unavailable'],
    async handle({ principal, params: { name }, body }) {
      const { definition, created } = await scores.define(principal, name, body);
      const answer = { body: toDefinitionRead(definition) };
      return created ? { status: 201, ...answer } : { status: 200, ...answer };
    },
  });
}

function getDefinitionRoute(scores: Pick<ScoreService, 'definition'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/score-definitions/:name+',
    operationId: 'getScoreDefinition',
    summary: 'Get a score definition',
    description: 'Returns what values the scores of a name have.',
    tag: TAG,
    access: 'key',
    params: DefinitionParams,
    responses: { 200: { description: 'The definition.', schema: ScoreDefinitionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({
      status: 200,
      body: toDefinitionRead(scores.definition(params.project_id, params.name)),
    }),
  });
}

function deleteDefinitionRoute(scores: Pick<ScoreService, 'removeDefinition'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/score-definitions/:name+',
    operationId: 'deleteScoreDefinition',
    summary: 'Delete a score definition',
    description: 'Deletes a definition. Returns 409 while there are scores of its name.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: DefinitionParams,
    responses: { 204: { description: 'The definition is deleted.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal, params }) {
      await scores.removeDefinition(principal, params.name);
      return { status: 204 };
    },
  });
}

const toDefinitionRead = ({ created_at, updated_at, ...definition }: ScoreDefinition) => ({
  ...definition,
  created_at: formatTimestamp(created_at),
  updated_at: formatTimestamp(updated_at),
});
