import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { CreatedWebhookRead, DeliveryRead, WebhookInput, WebhookPatch, WebhookRead } from '../schema.js';
import { MAX_OVER, MAX_WAITING } from '../webhook.js';
import type { WebhookService } from '../webhook-service.js';
import { toCreatedRead, toDeliveryRead, toWebhookRead } from './presenters.js';

/** How the documentation groups these routes. */
const TAG = 'Webhooks';

/** Of one destination in a minute: each is a mail, or a request, to an address that a client chose. */
const TESTS_PER_MINUTE = 1;

const Params = Type.Object({ project_id, webhook_id: uuid('Id of the destination.') });
const WEBHOOK = { 200: { description: 'The destination.', schema: WebhookRead } };

/** Destinations of events of a project. */
export function webhookRoutes(webhooks: WebhookService) {
  return [
    createRoute(webhooks),
    listRoute(webhooks),
    getRoute(webhooks),
    updateRoute(webhooks),
    deleteRoute(webhooks),
    rotateRoute(webhooks),
    testRoute(webhooks),
    deliveriesRoute(webhooks),
  ];
}

function createRoute(webhooks: Pick<WebhookService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/webhooks',
    operationId: 'createWebhook',
    summary: 'Create a destination',
    description:
      'A destination receives events of the project: a URL of yours, a Slack channel, or an email address. The response ' +
      'has the secret for its signatures, which is never shown again.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(WebhookInput),
    responses: { 201: { description: 'The destination, with its secret.', schema: CreatedWebhookRead } },
    errors: ['invalid', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const created = toCreatedRead(webhooks.create(principal, body));
      const headers = { Location: `/projects/${params.project_id}/webhooks/${created.id}` };
      return { status: 201, headers, body: created };
    },
  });
}

function listRoute(webhooks: Pick<WebhookService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/webhooks',
    operationId: 'listWebhooks',
    summary: 'List destinations',
    description: 'Returns all destinations of the project, the oldest first.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(WebhookRead, 'The destinations.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: webhooks.list(params.project_id).map(toWebhookRead) }),
  });
}

function getRoute(webhooks: Pick<WebhookService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/webhooks/:webhook_id',
    operationId: 'getWebhook',
    summary: 'Get a destination',
    description: 'Returns a destination: how many deliveries wait, and how many attempts failed in a row.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: WEBHOOK,
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: toWebhookRead(webhooks.get(params.project_id, params.webhook_id)) }),
  });
}

function updateRoute(webhooks: Pick<WebhookService, 'change'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/webhooks/:webhook_id',
    operationId: 'updateWebhook',
    summary: 'Update a destination',
    description:
      'Changes name, target or events, or enables or disables the destination. Waiting deliveries are retried at once; disabling gives them up.',
    tag: TAG,
    access: 'key',
    params: Params,
    body: jsonBody(WebhookPatch),
    responses: WEBHOOK,
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toWebhookRead(webhooks.change(principal, params.webhook_id, body)),
    }),
  });
}

function deleteRoute(webhooks: Pick<WebhookService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/webhooks/:webhook_id',
    operationId: 'deleteWebhook',
    summary: 'Delete a destination',
    description: 'Deletes the destination with its deliveries, also those that wait.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The destination is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      webhooks.remove(principal, params.webhook_id);
      return { status: 204 };
    },
  });
}

function rotateRoute(webhooks: Pick<WebhookService, 'rotate'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/webhooks/:webhook_id:rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a destination',
    description: 'Replaces the secret of the destination at once, and returns the new one, which is never shown again.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 200: { description: 'The destination, with its secret.', schema: CreatedWebhookRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toCreatedRead(webhooks.rotate(principal, params.webhook_id)),
    }),
  });
}

function testRoute(webhooks: Pick<WebhookService, 'requireTestable' | 'test'>) {
  const limit = new MinuteLimit(TESTS_PER_MINUTE, 'tests of a destination');
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/webhooks/:webhook_id:test',
    operationId: 'testWebhook',
    summary: 'Send a test',
    description:
      'Sends an event of the type `test` to the destination. The list of its deliveries shows the result. A destination can be tested once a minute.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: WEBHOOK,
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    async handle({ params: { project_id: projectId, webhook_id: id } }) {
      webhooks.requireTestable(projectId, id);
      await limit.take(id);
      return { status: 200, body: toWebhookRead(webhooks.test(projectId, id)) };
    },
  });
}

function deliveriesRoute(webhooks: Pick<WebhookService, 'deliveries'>) {
  const most = MAX_OVER + MAX_WAITING;
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/webhooks/:webhook_id/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries',
    description: `Returns the deliveries of the destination, the newest first. The newest ${MAX_OVER} finished ones are kept.`,
    tag: TAG,
    access: 'key',
    params: Params,
    query: queryOf(Type.Object(page({ maxLimit: 200, defaultLimit: 50, maxOffset: most }))),
    responses: { 200: listOf(DeliveryRead, 'The deliveries.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ params, query }) => ({
      status: 200,
      body: webhooks.deliveries(params.project_id, params.webhook_id, query).map(toDeliveryRead),
    }),
  });
}
