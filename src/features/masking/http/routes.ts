import { spanList } from '../../../engine/traces/model/list/definitions.js';
import { formatOptionalTimestamp } from '../../../engine/timestamp.js';
import { parseSelection } from '../../../http/list-query.js';
import { ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import type { MaskingService } from '../masking-service.js';
import type { MaskingTest } from '../masking-test.js';
import type { MaskingRules } from '../rule.js';
import { MAX_EXPRESSION, MAX_RULES, MaskingInput, MaskingRead, MaskingTestInput, MaskingTestRead } from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Masking';
const DEFAULT_TESTED = 100;

/** What personal data of a project is masked before it is stored. */
export function maskingRoutes(masking: MaskingService, test: MaskingTest) {
  return [getRoute(masking), setRoute(masking), testRoute(test)];
}

function getRoute(masking: Pick<MaskingService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/masking',
    operationId: 'getMasking',
    summary: 'Get masking rules',
    description: 'Returns the rules by which personal data is masked before it is stored.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: { description: 'The rules.', schema: MaskingRead } },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: toRead(masking.get(params.project_id)) }),
  });
}

function setRoute(masking: Pick<MaskingService, 'set'>) {
  return defineRoute({
    method: 'PUT',
    path: '/projects/:project_id/masking',
    operationId: 'setMasking',
    summary: 'Set masking rules',
    description:
      'Replaces all rules of the project, as the next version; an empty list ends masking. The rules apply to every request ' +
      'that arrives after the response, over any API. Spans that are already stored do not change. A project has at most ' +
      `${MAX_RULES} rules, with at most ${MAX_EXPRESSION} characters in an expression or a path.`,
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(MaskingInput),
    responses: { 200: { description: 'The rules that apply from now on.', schema: MaskingRead } },
    errors: ['invalid', 'unavailable'],
    handle: ({ principal, body }) => ({ status: 200, body: toRead(masking.set(principal, body.rules)) }),
  });
}

function testRoute(test: Pick<MaskingTest, 'run'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/masking:test',
    operationId: 'testMasking',
    summary: 'Test masking rules',
    description:
      'Tests rules on stored spans: returns how many spans and values each would change, and the first few values before and after. ' +
      'Changes nothing. Values that are masked already stay as they are.',
    tag: TAG,
    access: 'key',
    scopes: ['admin', 'spans:read'],
    bulk: true,
    params: ProjectParams,
    body: jsonBody(MaskingTestInput),
    responses: { 200: { description: 'What the rules would change.', schema: MaskingTestRead } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ params, body: { rules, query, limit }, signal }) {
      const request = {
        rules: rules ?? null,
        query: parseSelection(spanList, new URLSearchParams(query ?? '')),
        limit: limit ?? DEFAULT_TESTED,
      };
      return { status: 200, body: await test.run(params.project_id, request, signal) };
    },
  });
}

function toRead({ version, rules, updated_at }: MaskingRules) {
  return { version, rules, updated_at: formatOptionalTimestamp(updated_at) };
}
