import { Type } from '@sinclair/typebox';
import { UUID } from '../engine/schema/ids.js';
import { LED, toConsole, type LinkParts } from '../facade/console-link.js';
import { defineRoute } from '../http/route.js';
import { renderError } from './errors.js';
import { MAX_ID, ownId } from './ids.js';
import { TAG } from './tag.js';

const traceId = Type.String({
  minLength: 1,
  maxLength: MAX_ID,
  description: 'Id of the trace, as the client named it.',
});
const run = Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the run: of the experiment.' });
const dataset = Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the dataset.' });
const item = Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the item.' });
const text = Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the project.' });

/** The links that clients of Langfuse print lead into the console, which asks who is there. */
export function linkRoutes({ baseUrl, projectOf }: LinkParts) {
  const to = (projectId: string | null, place: string | null) => toConsole(baseUrl(), projectId, place);
  const toTrace = (projectId: string | null, trace: string) =>
    to(projectId, projectId === null ? null : `traces/${ownId(projectId.toLowerCase(), trace)}`);
  const shared = {
    method: 'GET',
    summary: 'Follow a link to a trace (Langfuse)',
    tag: TAG,
    access: 'public',
    responses: LED,
    errors: [],
    renderError,
  } as const;
  return [
    defineRoute({
      ...shared,
      path: '/project/:langfuse_project/traces/:trace_id',
      operationId: 'followLangfuseTrace',
      description: 'Redirects to the trace in the console.',
      params: Type.Object({ langfuse_project: text, trace_id: traceId }),
      handle: ({ params }) => toTrace(params.langfuse_project, params.trace_id),
    }),
    defineRoute({
      ...shared,
      path: '/trace/:trace_id',
      operationId: 'followLangfuseTraceOfAnyProject',
      description: 'Redirects to the trace in the console, if you are signed in to one project, else to the console.',
      params: Type.Object({ trace_id: traceId }),
      handle: ({ params, headers }) => toTrace(projectOf(headers), params.trace_id),
    }),
    defineRoute({
      ...shared,
      path: '/project/:langfuse_project/datasets/:dataset_id/runs/:run_id',
      operationId: 'followLangfuseRun',
      summary: 'Follow a link to a run of a dataset (Langfuse)',
      description: 'Redirects to the experiment in the console.',
      params: Type.Object({ langfuse_project: text, dataset_id: dataset, run_id: run }),
      handle: ({ params }) => to(params.langfuse_project, placeOf('experiments', params.run_id)),
    }),
    defineRoute({
      ...shared,
      path: '/project/:langfuse_project/datasets/:dataset_id/items/:item_id',
      operationId: 'followLangfuseDatasetItem',
      summary: 'Follow a link to an item of a dataset (Langfuse)',
      description: 'Redirects to the dataset in the console.',
      params: Type.Object({ langfuse_project: text, dataset_id: dataset, item_id: item }),
      handle: ({ params }) => to(params.langfuse_project, placeOf('datasets', params.dataset_id)),
    }),
  ];
}

/** A place of the console: only what may be an id is taken over. */
function placeOf(screen: string, id: string): string {
  const own = id.toLowerCase();
  return UUID.test(own) ? `${screen}/${own}` : screen;
}
