import { Type } from '@sinclair/typebox';
import { ID, uuidOf } from '../engine/schema/ids.js';
import { basePath } from '../http/base-path.js';
import { isProjectId } from '../http/path.js';
import { defineRoute } from '../http/route.js';
import { BASE, TAG } from './tag.js';

const id = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const params = {
  tenant: id('Id of the project.'),
  session: id('Id of an experiment, or of what LangSmith calls a project.'),
  run: id('Id of a run.'),
  dataset: id('Id of a dataset.'),
};

/** The links that clients of LangSmith print lead into the console, which asks who is there. @param baseUrl of the URLs handed out */
export function linkRoutes(baseUrl: () => string) {
  const to = (tenant: string, screen: string, place: string) => {
    const base = `${basePath(baseUrl())}/console`;
    const known = isProjectId(tenant) && ID.test(place);
    const location = known ? `${base}/p/${tenant.toLowerCase()}/${screen}/${uuidOf(place)}` : base;
    const headers = { Location: location, 'Cache-Control': 'no-store' };
    return { status: 302, headers, content: `See ${location}\n`, contentType: 'text/plain' };
  };
  const shared = {
    method: 'GET',
    tag: TAG,
    access: 'public',
    responses: { 302: { description: 'Leads to the console.' } },
    errors: [],
  } as const;
  return [
    defineRoute({
      ...shared,
      path: `${BASE}/o/:tenant/projects/p/:session/r/:run`,
      operationId: 'followLangsmithRun',
      summary: 'Follow a link to a run (LangSmith)',
      description: 'Redirects to the trace in the console, whose id is that of its root run.',
      params: Type.Object({ tenant: params.tenant, session: params.session, run: params.run }),
      handle: ({ params: { tenant, run } }) => to(tenant, 'traces', run),
    }),
    defineRoute({
      ...shared,
      path: `${BASE}/o/:tenant/projects/p/:session`,
      operationId: 'followLangsmithProject',
      summary: 'Follow a link to an experiment (LangSmith)',
      description: 'Redirects to the experiment in the console.',
      params: Type.Object({ tenant: params.tenant, session: params.session }),
      handle: ({ params: { tenant, session } }) => to(tenant, 'experiments', session),
    }),
    defineRoute({
      ...shared,
      path: `${BASE}/o/:tenant/datasets/:dataset`,
      operationId: 'followLangsmithDataset',
      summary: 'Follow a link to a dataset (LangSmith)',
      description: 'Redirects to the dataset in the console.',
      params: Type.Object({ tenant: params.tenant, dataset: params.dataset }),
      handle: ({ params: { tenant, dataset } }) => to(tenant, 'datasets', dataset),
    }),
    defineRoute({
      ...shared,
      path: `${BASE}/o/:tenant/datasets/:dataset/compare`,
      operationId: 'followLangsmithComparison',
      summary: 'Follow a link to the results of an experiment (LangSmith)',
      description: 'Redirects to the dataset in the console.',
      params: Type.Object({ tenant: params.tenant, dataset: params.dataset }),
      handle: ({ params: { tenant, dataset } }) => to(tenant, 'datasets', dataset),
    }),
  ];
}
