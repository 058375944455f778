import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import { UUID } from '../engine/schema/ids.js';
import { LED, toConsole, type LinkParts } from '../facade/console-link.js';
import { queryOf } from '../http/query.js';
import { defineRoute } from '../http/route.js';
import { BASE, TAG } from './tag.js';

export type { LinkParts };

const id = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const params = Type.Object({ dataset: id('Id of the dataset.') });

/** The links that clients of Phoenix print lead into the console, which asks who is there. They do not say the project. */
export function linkRoutes({ baseUrl, projectOf }: LinkParts) {
  const to = (headers: IncomingHttpHeaders, screen: string, id: string) =>
    toConsole(baseUrl(), projectOf(headers), UUID.test(id) ? `${screen}/${id}` : null);
  const shared = {
    method: 'GET',
    tag: TAG,
    access: 'public',
    params,
    responses: LED,
    errors: [],
  } as const;
  return [
    defineRoute({
      ...shared,
      path: `${BASE}/datasets/:dataset/examples`,
      operationId: 'followPhoenixDataset',
      summary: 'Follow a link to a dataset (Phoenix)',
      description: 'Redirects to the dataset in the console.',
      handle: ({ params: { dataset }, headers }) => to(headers, 'datasets', dataset),
    }),
    defineRoute({
      ...shared,
      path: `${BASE}/datasets/:dataset/experiments`,
      operationId: 'followPhoenixExperiments',
      summary: 'Follow a link to the experiments of a dataset (Phoenix)',
      description: 'Redirects to the dataset in the console.',
      handle: ({ params: { dataset }, headers }) => to(headers, 'datasets', dataset),
    }),
    defineRoute({
      ...shared,
      path: `${BASE}/datasets/:dataset/compare`,
      operationId: 'followPhoenixExperiment',
      summary: 'Follow a link to an experiment (Phoenix)',
      description: 'Redirects to the experiment in the console.',
      query: queryOf(Type.Object({ experimentId: Type.Optional(id('Id of the experiment.')) })),
      handle: ({ params: { dataset }, query: { experimentId }, headers }) =>
        experimentId === undefined ? to(headers, 'datasets', dataset) : to(headers, 'experiments', experimentId),
    }),
  ];
}
