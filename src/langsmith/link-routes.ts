import { Type } from '@sinclair/typebox';
import { ID, uuidOf } from '../engine/schema/ids.js';
import { LED, toConsole } from '../facade/console-link.js';
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
  const to = (tenant: string, screen: string, id: string) =>
    toConsole(baseUrl(), tenant, ID.test(id) ? `${screen}/${uuidOf(id)}` : null);
  const shared = {
    method: 'GET',
    tag: TAG,
    access: 'public',
    responses: LED,
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
