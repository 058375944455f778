import { ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { TAG } from '../../experiments/http/parameters.js';
import { toExperimentRead } from '../../experiments/http/presenters.js';
import { ExperimentRead } from '../../experiments/schema.js';
import type { RunService } from '../run-service.js';
import { RunEstimateRead, RunInput } from '../schema.js';

/** Experiments that the server runs itself. */
export function experimentRunRoutes(runs: RunService) {
  return [runExperimentRoute(runs)];
}

function runExperimentRoute(runs: RunService) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/experiments:run',
    operationId: 'runExperiment',
    summary: 'Run a prompt on a dataset',
    description:
      'Creates an experiment, and calls the configured model endpoint (`JUDGE_LLM_BASE_URL`) with the filled prompt for each row and ' +
      'repetition. `run` of the experiment shows the progress. A run continues after a restart of the server. When all results are ' +
      'there, the experiment is finished; if the run stops before that, it is canceled, and `run.error` says why. `:cancel` stops a ' +
      'run. With `dry_run`, nothing is created or called, and the response estimates the cost. Returns 409 if no model can be ' +
      'called, or too many runs of the project are unfinished.',
    tag: TAG,
    access: 'key',
    scopes: ['datasets:write', 'prompts:read'],
    params: ProjectParams,
    body: jsonBody(RunInput),
    responses: {
      200: { description: 'With `dry_run`, the estimate.', schema: RunEstimateRead },
      201: { description: 'The experiment, which is running.', schema: ExperimentRead },
    },
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    async handle({ principal, body, signal }) {
      if (body.dry_run === true) return { status: 200, body: await runs.estimate(principal, body) };
      return { status: 201, body: toExperimentRead(await runs.start(principal, body, signal)) };
    },
  });
}
