import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { SavedView } from '../saved-view.js';
import type { SavedViewService } from '../saved-view-service.js';
import { MAX_SAVED_VIEWS, SavedViewInput, SavedViewPatch, SavedViewRead } from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Saved views';

const Params = Type.Object({ project_id, view_id: uuid('Id of the view.') });
const VIEW = { 200: { description: 'The view.', schema: SavedViewRead } };

/** Lists with their filters, order and columns, under a name. */
export function savedViewRoutes(views: SavedViewService) {
  return [createRoute(views), listRoute(views), getRoute(views), updateRoute(views), deleteRoute(views)];
}

function createRoute(views: Pick<SavedViewService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/saved-views',
    operationId: 'createSavedView',
    summary: 'Save a view',
    description:
      'Saves a list with its filters, order and columns under a name, for everyone in the project. A query that the list would ' +
      `refuse is refused here, too. A project has at most ${MAX_SAVED_VIEWS} views.`,
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(SavedViewInput),
    responses: { 201: { description: 'The view.', schema: SavedViewRead } },
    errors: ['invalid', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const created = toSavedViewRead(views.create(principal, body));
      const headers = { Location: `/projects/${params.project_id}/saved-views/${created.id}` };
      return { status: 201, headers, body: created };
    },
  });
}

function listRoute(views: Pick<SavedViewService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/saved-views',
    operationId: 'listSavedViews',
    summary: 'List saved views',
    description: 'Returns all saved views of the project, by name.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(SavedViewRead, 'The views.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: views.list(params.project_id).map(toSavedViewRead) }),
  });
}

function getRoute(views: Pick<SavedViewService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/saved-views/:view_id',
    operationId: 'getSavedView',
    summary: 'Get a saved view',
    description: 'Returns a view. `GET /{list}?{query}` returns what it shows.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: VIEW,
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: toSavedViewRead(views.get(params.project_id, params.view_id)) }),
  });
}

function updateRoute(views: Pick<SavedViewService, 'change'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/saved-views/:view_id',
    operationId: 'updateSavedView',
    summary: 'Update a saved view',
    description: 'Renames a view, or gives it another query or other columns. It stays a view of the same list.',
    tag: TAG,
    access: 'key',
    params: Params,
    body: jsonBody(SavedViewPatch),
    responses: VIEW,
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toSavedViewRead(views.change(principal, params.view_id, body)),
    }),
  });
}

function deleteRoute(views: Pick<SavedViewService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/saved-views/:view_id',
    operationId: 'deleteSavedView',
    summary: 'Delete a saved view',
    description: 'Deletes a view. What it shows stays.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The view is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      views.remove(principal, params.view_id);
      return { status: 204 };
    },
  });
}

function toSavedViewRead({ id, name, list, query, columns, created_by, ...view }: SavedView): SavedViewRead {
  return {
    ...{ id, name, list, query, columns: columns === null ? null : [...columns] },
    ...{ created_at: formatTimestamp(view.created_at), created_by, updated_at: formatTimestamp(view.updated_at) },
  };
}
