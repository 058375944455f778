import { Readable } from 'node:stream';
import type { EvaluationItems, EvaluationLists, EvaluationPage } from '../evaluation-lists.js';
import type { EvaluationService } from '../evaluation-service.js';
import { MAX_OF_SPAN, type ListedEvaluation } from '../evaluation.js';
import type { ExplainService } from '../explain-service.js';
import { ExplanationRead, RunInput, RunPageRead, RunQueuedRead, RunsRetriedRead } from '../run-schema.js';
import type { RunService } from '../run-service.js';
import { EvaluationInput, EvaluationPageRead, EvaluationRead, SpanEvaluationsRead } from '../schema.js';
import type { Window } from '../../../engine/schema/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, type SerializedResult, uncheckedJsonBody } from '../../../http/route.js';
import { evaluationRead, explanationRead, namedEvaluationRead, runPageRead, runQueuedRead } from './presenters.js';
import { evaluationQuery, JudgeParams, JudgeSpanParams, RunListQuery, SpanParams, TAG } from './schema.js';

export interface EvaluationServices {
  readonly evaluations: EvaluationService;
  readonly evaluationLists: EvaluationLists;
  readonly runs: RunService;
  readonly explanations: ExplainService;
}

/** What judges found, and the runs in which they look. */
export function evaluationRoutes({ evaluations, evaluationLists, runs, explanations }: EvaluationServices) {
  return [
    listEvaluationsRoute(evaluationLists),
    recordEvaluationRoute(evaluations),
    listSpanEvaluationsRoute(evaluationLists),
    runJudgeRoute(runs),
    retryRunsRoute(runs),
    listRunsRoute(runs),
    explainSpanRoute(explanations),
  ];
}

function listEvaluationsRoute(evaluations: Pick<EvaluationLists, 'ofJudge'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/evaluations',
    operationId: 'listJudgeEvaluations',
    summary: 'List the evaluations of a judge',
    description:
      'Returns evaluations in storage order by default. Works for deleted judges too. `agreement=disagreed` lists ' +
      'evaluations on which judge and people disagree; `agreement=unreviewed&sort_by=confidence` lists those to ' +
      'review next. A page with fewer than `limit` items is the last one, unless evaluations were deleted ' +
      'meanwhile; otherwise the next one starts at `offset` plus `limit`. New evaluations are added at the end.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: evaluationQuery,
    responses: { 200: { description: 'A page of evaluations.', schema: EvaluationPageRead } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, judge_id }, query, signal }) =>
      evaluationPageAnswer(await evaluations.ofJudge(project_id, judge_id, query, signal), query.window),
  });
}

function recordEvaluationRoute(evaluations: Pick<EvaluationService, 'record'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id/evaluations',
    operationId: 'recordEvaluation',
    summary: 'Store an evaluation that ran elsewhere',
    description: `Each call stores a further evaluation. For a scored judge, score and threshold determine the result. Returns 409 if the span has ${MAX_OF_SPAN} evaluations. The span may arrive later; the id of a stored trace or session is refused (422).`,
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: uncheckedJsonBody(EvaluationInput),
    responses: { 201: { description: 'The evaluation.', schema: EvaluationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: async ({ params: { project_id, judge_id }, body }) => ({
      status: 201,
      body: evaluationRead(await evaluations.record(project_id, judge_id, body)),
    }),
  });
}

function listSpanEvaluationsRoute(evaluations: Pick<EvaluationLists, 'ofSpan'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/spans/:span_id/evaluations',
    operationId: 'listSpanEvaluations',
    summary: 'List the evaluations of a span',
    description: 'Returns evaluations of the span by every judge, including deleted ones, newest first.',
    tag: TAG,
    access: 'key',
    params: SpanParams,
    responses: { 200: { description: 'The evaluations.', schema: SpanEvaluationsRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, span_id } }) =>
      spanEvaluationsAnswer(span_id, await evaluations.ofSpan(project_id, span_id)),
  });
}

function runJudgeRoute(runs: Pick<RunService, 'run'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id:run',
    operationId: 'runJudge',
    summary: 'Run a judge on spans, traces or sessions',
    description:
      'Queues an evaluation of every span listed in the body, or of the newest finished spans that match the ' +
      'filters (`backfill`); of a judge of traces or sessions, of these, without waiting until they are quiet. ' +
      'What was evaluated before gets a further evaluation. Disabled judges can run ' +
      'too. Returns 409 if the judge cannot run, 429 if the queue has no room for all of them; with `experiment_id`, only if it has no room at all. With `experiment_id`, ' +
      'it queues every result that one version of the judge has not evaluated yet, so repeating the call queues ' +
      'nothing twice; `left` counts the results that did not fit in the queue. The version does not change, whatever is ' +
      'corrected later. Returns 409 if that version is no longer available.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: uncheckedJsonBody(RunInput),
    responses: { 202: { description: 'The queued evaluations.', schema: RunQueuedRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ params: { project_id, judge_id }, body }) => ({
      status: 202,
      body: runQueuedRead(await runs.run(project_id, judge_id, body)),
    }),
  });
}

function retryRunsRoute(runs: Pick<RunService, 'retryFailed'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id:retry',
    operationId: 'retryJudgeRuns',
    summary: 'Retry failed evaluations of a judge',
    description:
      'Queues the failed runs of the judge again, oldest first, each with all its attempts and a new id. Runs whose ' +
      'span, trace or session is already queued, failed again or was evaluated since are unchanged, so repeating the call queues ' +
      'nothing twice. It queues as many as the queue has room for; `left` counts the others. Returns 429 if the ' +
      'queue is full, 409 if the judge cannot run.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 202: { description: 'Number of retried evaluations.', schema: RunsRetriedRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ params: { project_id, judge_id } }) => ({
      status: 202,
      body: await runs.retryFailed(project_id, judge_id),
    }),
  });
}

function listRunsRoute(runs: Pick<RunService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/runs',
    operationId: 'listJudgeRuns',
    summary: 'List the queued and failed evaluations of a judge',
    description:
      'Returns runs of the judge, newest first: evaluations that are queued, running or failed. Finished ones are ' +
      'in the list of evaluations. The server keeps the newest 10,000 failed runs of each judge.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: queryOf(RunListQuery),
    responses: { 200: { description: 'A page of runs.', schema: RunPageRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, judge_id }, query: { state, ...window } }) => ({
      status: 200,
      body: runPageRead(runs.list(project_id, judge_id, state ?? null, window), window),
    }),
  });
}

function explainSpanRoute(explanations: Pick<ExplainService, 'explain'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/explain/:span_id',
    operationId: 'explainJudge',
    summary: 'Explain why a span, trace or session was or was not evaluated',
    description:
      'Returns why the judge did or did not evaluate this span: a code for programs, a sentence for people, and the ' +
      'facts behind it. For a judge of traces or sessions, the id is that of one of these or of a span in it.',
    tag: TAG,
    access: 'key',
    params: JudgeSpanParams,
    responses: { 200: { description: 'The answer.', schema: ExplanationRead } },
    errors: ['not_found', 'unavailable'],
    handle: async ({ params: { project_id, judge_id, span_id } }) => ({
      status: 200,
      body: explanationRead(await explanations.explain(project_id, judge_id, span_id)),
    }),
  });
}

/** The answer that is a page of evaluations, written as they are read: together they may be larger than memory. */
export function evaluationPageAnswer({ total, items }: EvaluationPage, { limit, offset }: Window): SerializedResult {
  return answer({ total, limit, offset }, items, evaluationRead);
}

/** The answer that is all evaluations of a span, written as they are read. */
export function spanEvaluationsAnswer(span_id: string, items: EvaluationItems): SerializedResult {
  return answer({ span_id }, items, namedEvaluationRead);
}

type Present = (evaluation: ListedEvaluation) => object;

function answer(head: object, items: EvaluationItems, present: Present): SerializedResult {
  const stream = Readable.from(jsonOf(head, items, present), { objectMode: false });
  return { status: 200, stream, contentType: 'application/json' };
}

async function* jsonOf(head: object, items: EvaluationItems, present: Present): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"evaluations":[`;
  let before = '';
  for await (const portion of items) {
    for (const evaluation of portion) {
      yield before + JSON.stringify(present(evaluation));
      before = ',\n';
    }
  }
  yield ']}';
}
