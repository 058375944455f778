import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../../../engine/errors.js';
import { count, number, oneOf, orNull, uuid } from '../../../engine/schema/parts.js';
import type { OwnUsageService } from '../own-usage.js';
import { MAX_GROUPS, PURPOSES } from '../../../engine/traces/model/usage.js';
import { endTime, time } from '../../../http/parameter.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';
import { ProjectParams } from '../../../http/parameters.js';

const usage = {
  calls: count('Number of calls.'),
  errors: count('Number of failed calls.'),
  input_tokens: count('Input tokens, as the model endpoint counted them.'),
  output_tokens: count('Output tokens, as the model endpoint counted them.'),
  cost: orNull(number('Cost in US dollars; null if no call has a known cost.')),
};

const OwnUsageRead = Type.Object(
  {
    total: Type.Object(usage, { description: 'All calls.' }),
    groups: Type.Array(
      Type.Object(
        {
          purpose: oneOf(
            PURPOSES,
            'judge: evaluations; calibration: trials of corrections; optimization: better versions of prompts; ' +
              'playground: calls that people made there.',
          ),
          id: Type.String({ description: 'Id of the judge, of the job, or of the user who called.' }),
          name: orNull(
            Type.String({
              description:
                'Name of the judge, of the judge that was tried, or of the user; slug of the prompt that was optimized. Null: ' +
                'it does not exist.',
            }),
          ),
          subject_id: orNull(uuid('Id of the judge, user or prompt that has the name.')),
          ...usage,
        },
        { description: 'The calls of one judge, of one job, or of one user of the playground.' },
      ),
      { description: `Calls by judge, job and user, most expensive first, at most ${MAX_GROUPS}.` },
    ),
  },
  { $id: 'OwnUsage', description: "Summary of the server's own model calls." },
);

const Query = Type.Object({
  started_after: Type.Optional(time('Only calls that started then or later.')),
  started_before: Type.Optional(endTime('Only calls that started then or earlier.')),
});

export function getOwnUsageRoute(ownUsage: Pick<OwnUsageService, 'read'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/internal-usage',
    operationId: 'getInternalUsage',
    summary: 'Summarize internal model usage',
    description:
      'Sums up the model calls that the server makes itself, for judges, trials, optimizations and the playground. ' +
      'They are stored as spans, which lists exclude unless `internal` includes them.',
    tag: 'Judges',
    access: 'key',
    scopes: ['project:read'],
    params: ProjectParams,
    query: queryOf(Query, { check, to: ({ started_after: from = null, started_before: to = null }) => ({ from, to }) }),
    responses: { 200: { description: 'The sums.', schema: OwnUsageRead } },
    errors: ['invalid', 'unavailable'],
    handle: async ({ params, query, signal }) => ({
      status: 200,
      body: await ownUsage.read(params.project_id, query, signal),
    }),
  });
}

function check({ started_after: from, started_before: to }: Partial<Static<typeof Query>>): Issue[] {
  if (from === undefined || to === undefined || from <= to) return [];
  return [{ pointer: '?started_before', detail: 'must not be before started_after' }];
}
