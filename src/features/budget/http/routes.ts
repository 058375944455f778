import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import type { ModelBudget, ModelBudgets } from '../model-budgets.js';
import { monthAfter } from '../month.js';
import { ModelBudgetInput, ModelBudgetRead } from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Judges';

/** What the server's own calls of models may cost in a month. */
export function budgetRoutes(budgets: ModelBudgets) {
  return [getRoute(budgets), setRoute(budgets)];
}

function getRoute(budgets: Pick<ModelBudgets, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-budget',
    operationId: 'getModelBudget',
    summary: 'Get the model budget',
    description: "Returns the project's budget for the server's own model calls, and what is spent of it this month.",
    tag: TAG,
    access: 'key',
    scopes: ['project:read'],
    params: ProjectParams,
    responses: { 200: { description: 'The budget.', schema: ModelBudgetRead } },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: toRead(budgets.get(params.project_id)) }),
  });
}

function setRoute(budgets: Pick<ModelBudgets, 'set'>) {
  return defineRoute({
    method: 'PUT',
    path: '/projects/:project_id/model-budget',
    operationId: 'setModelBudget',
    summary: 'Set the model budget',
    description:
      "Limits what the server's own model calls may cost in a calendar month: those of judges, trials, optimizations, experiment runs and the " +
      'playground. When the budget is spent, queued evaluations and jobs wait until the month ends or the budget is raised, and ' +
      'playground calls and previews get 409. Calls under way are finished, so that a month may cost a little more.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: ProjectParams,
    body: jsonBody(ModelBudgetInput),
    responses: { 200: { description: 'The budget, as it holds from now on.', schema: ModelBudgetRead } },
    errors: ['unavailable'],
    handle: ({ principal, body }) => ({ status: 200, body: toRead(budgets.set(principal, body.monthly_limit)) }),
  });
}

function toRead({ monthly_limit, month, cost, calls, unpriced, waiting_reason, updated_at }: ModelBudget) {
  return {
    ...{ monthly_limit, month, spent: cost, calls, unpriced_calls: unpriced },
    ...{ waiting: waiting_reason !== null, waiting_reason },
    resets_at: formatTimestamp(monthAfter(month)),
    updated_at: formatOptionalTimestamp(updated_at),
  };
}
