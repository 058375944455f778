import { toJobRead } from '../../../http/job-presenters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { toVersionRead } from '../../prompts/http/presenters.js';
import { PromptVersionRead } from '../../prompts/http/schema.js';
import type { OptimizationService } from '../optimization-service.js';
import type { Optimization, OptimizationHead } from '../optimization.js';
import { OptimizationInputBody } from '../schema.js';
import {
  JobParams,
  OptimizationRead,
  OptimizationReadinessRead,
  OptimizationSummaryRead,
  PromoteInput,
  PromptParams,
  readinessQuery,
  TAG,
} from './schema.js';

/** Better versions of prompts, from feedback. */
export function optimizationRoutes(optimizations: OptimizationService) {
  return [
    createOptimizationRoute(optimizations),
    listOptimizationsRoute(optimizations),
    getReadinessRoute(optimizations),
    getOptimizationRoute(optimizations),
    promoteCandidateRoute(optimizations),
    cancelOptimizationRoute(optimizations),
  ];
}

function getReadinessRoute(optimizations: Pick<OptimizationService, 'readiness'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations:readiness',
    operationId: 'getOptimizationReadiness',
    summary: 'Check whether a prompt can be optimized',
    description:
      'Returns which version would be improved, and why; how many completions with feedback each half needs and ' +
      'has; and what to do next. Queues nothing. If there is much feedback, it considers the newest thousand ' +
      'records, as an optimization does.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    query: readinessQuery,
    responses: { 200: { description: 'Whether the optimization can run.', schema: OptimizationReadinessRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query }) => ({
      status: 200,
      body: await optimizations.readiness(project_id, prompt_slug, query),
    }),
  });
}

function createOptimizationRoute(optimizations: Pick<OptimizationService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations',
    operationId: 'optimizePrompt',
    summary: 'Improve a prompt from feedback',
    description:
      'Queues a job. From one half of the feedback on completions of the prompt (expected outputs, reasons), a ' +
      'model writes candidates that keep the placeholders of the base version: `base_version`, else the version ' +
      'tagged `production`, else the latest. Each candidate and the base version are tried on the other half: the ' +
      'completions are repeated, and the judge evaluates the new outputs, knowing what people expected. Without a ' +
      'judge, the model decides whether each output says what the expected output says, which needs at least three ' +
      'expected outputs in that half. A candidate is not a version until you promote it. A hash of its id assigns ' +
      'each completion to one half. `optimizations:readiness` says beforehand whether there is enough feedback. The ' +
      'calls are stored as spans tagged `spanhouse.optimization`. The job resumes after a restart and does not ' +
      'repeat calls that were answered.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    body: jsonBody(OptimizationInputBody),
    responses: { 202: { description: 'The optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal, params: { project_id, prompt_slug }, body }) {
      const made = toOptimizationRead(await optimizations.create(principal, prompt_slug, body));
      const location = `/projects/${project_id}/prompts/${encodeURIComponent(prompt_slug)}/optimizations/${made.id}`;
      return { status: 202, headers: { Location: location }, body: made };
    },
  });
}

function listOptimizationsRoute(optimizations: Pick<OptimizationService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations',
    operationId: 'listOptimizations',
    summary: 'List the optimizations of a prompt',
    description: 'Returns the newest hundred optimizations, newest first, without their candidates.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    responses: {
      200: listOf(OptimizationSummaryRead, 'The optimizations.'),
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug } }) => ({
      status: 200,
      body: optimizations.list(project_id, prompt_slug).map(toSummaryRead),
    }),
  });
}

function getOptimizationRoute(optimizations: Pick<OptimizationService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id',
    operationId: 'getOptimization',
    summary: 'Get an optimization',
    description:
      'Returns state and progress of the optimization and, once it is done, each candidate compared with the ' +
      'current version, best first.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, job_id } }) => ({
      status: 200,
      body: toOptimizationRead(optimizations.get(project_id, prompt_slug, job_id)),
    }),
  });
}

function promoteCandidateRoute(optimizations: Pick<OptimizationService, 'promote'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:promote',
    operationId: 'promoteCandidate',
    summary: 'Promote a candidate to a version',
    description:
      'The candidate becomes the latest version of the prompt, with the model of the version that it improves; its ' +
      'metadata records its origin. Tags stay where they are. Repeating the call returns the same version. Returns ' +
      '409 while the optimization is not done.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    body: jsonBody(PromoteInput),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { prompt_slug, job_id }, body: { candidate_id } }) => ({
      status: 200,
      body: toVersionRead(optimizations.promote(principal, prompt_slug, job_id, candidate_id)),
    }),
  });
}

function cancelOptimizationRoute(optimizations: Pick<OptimizationService, 'cancel'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:cancel',
    operationId: 'cancelOptimization',
    summary: 'Cancel an optimization',
    description: 'Aborts running model calls. An optimization that has ended cannot be canceled (409).',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The canceled optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, job_id } }) => ({
      status: 200,
      body: toOptimizationRead(optimizations.cancel(project_id, prompt_slug, job_id)),
    }),
  });
}

export function toSummaryRead(optimization: OptimizationHead): OptimizationSummaryRead {
  const { about, compared_by } = optimization;
  return {
    ...toJobRead(optimization),
    ...about,
    base_version_reason: about.base_version_reason ?? null,
    compared_by,
  };
}

function toOptimizationRead(optimization: Optimization): OptimizationRead {
  const { result, compared_by } = optimization;
  const summary = toSummaryRead(optimization);
  if (result === null) return { ...summary, result: null };
  const { id: _id, rationale: _rationale, ...current } = result.current;
  return {
    ...summary,
    result: {
      compared_by,
      ...result,
      current: { ...current, results: current.results.map(triedRead) },
      candidates: result.candidates.map((candidate) => ({ ...candidate, results: candidate.results.map(triedRead) })),
    },
  };
}

type Tried = NonNullable<Optimization['result']>['current']['results'][number];

function triedRead(tried: Tried) {
  return { ...tried, evaluation_result: tried.passed };
}
