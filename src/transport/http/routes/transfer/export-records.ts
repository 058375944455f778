import type { TransferService } from '../../../../domain/transfer/transfer-service.js';
import { defineRoute, type Route } from '../../route.js';
import { pageJson } from './presenters.js';
import { ExportPage, pageQuery, PartParams, TAG } from './schema.js';

export function exportRecordsRoute(transfer: Pick<TransferService, 'page'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/export/:part',
    operationId: 'exportRecords',
    summary: 'Export records of a project',
    description:
      'Returns a page of one part of the project, complete: `npm run admin -- export` writes all of them to a file. ' +
      'Spans are in storage order. A span that is written again meanwhile moves to the end, so paging until there ' +
      'is no `more` misses none.',
    tag: TAG,
    access: 'key',
    params: PartParams,
    query: pageQuery,
    responses: { 200: { description: 'The page.', schema: ExportPage } },
    errors: ['invalid', 'unavailable'],
    bulk: true,
    async handle({ params: { project_id, part }, query: { after, as_of, limit } }) {
      const asOf = as_of ?? Date.now() * 1000;
      const page = await transfer.page(part, asOf, { projectId: project_id, after: after ?? null, limit });
      return { status: 200, json: pageJson(page, asOf) };
    },
  });
}
