import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import { UUID } from '../engine/schema/ids.js';
import { basePath } from '../http/base-path.js';
import { queryOf } from '../http/query.js';
import { defineRoute } from '../http/route.js';
import { BASE, TAG } from './tag.js';

export interface LinkParts {
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** The project that the person sees whose browser sent a request; null: nobody knows. */
  readonly projectOf: (headers: IncomingHttpHeaders) => string | null;
}

const id = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const params = Type.Object({ dataset: id('Id of the dataset.') });

/** The links that clients of Phoenix print lead into the console, which asks who is there. They do not say the project. */
export function linkRoutes({ baseUrl, projectOf }: LinkParts) {
  const to = (headers: IncomingHttpHeaders, screen: string, place: string) => {
    const base = `${basePath(baseUrl())}/console`;
    const project = projectOf(headers);
    const location = project !== null && UUID.test(place) ? `${base}/p/${project}/${screen}/${place}` : base;
    const answered = { Location: location, 'Cache-Control': 'no-store' };
    return { status: 302, headers: answered, content: `See ${location}\n`, contentType: 'text/plain' };
  };
  const shared = {
    method: 'GET',
    tag: TAG,
    access: 'public',
    params,
    responses: { 302: { description: 'Leads to the console.' } },
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
