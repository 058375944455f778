import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { uuid } from '../../engine/schema/parts.js';
import { MAX_SCORE_TEXT } from '../../engine/traces/model/score/schema.js';
import { MAX_SCORE_NAME } from '../../engine/traces/model/score/score.js';
import { invalid } from '../../engine/validation/validation.js';
import { inSentNames } from '../../facade/sent-names.js';
import type { ScoreInput } from '../../features/scores/schema.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { annotationOf, scoreOfAnnotation } from '../annotation.js';
import { BASE, TAG } from '../tag.js';

const EvaluationInput = annotationOf(
  {
    experiment_run_id: uuid('Id of the result.'),
    error: optional(Type.String({ description: 'Why nothing was found. The score is then named `<name> error`.' })),
    start_time: optional(Type.Unknown({ description: 'Ignored.' })),
    end_time: optional(Type.Unknown({ description: 'Ignored.' })),
    trace_id: optional(Type.Unknown({ description: 'Ignored.' })),
    id: optional(Type.Unknown({ description: 'Ignored.' })),
  },
  'PhoenixEvaluationInput',
);

const Answer = Type.Object(
  { data: Type.Object({ id: uuid('Id of the score.') }, { description: 'The score.' }) },
  { $id: 'PhoenixEvaluation', description: 'What became of an evaluation.' },
);

/** What evaluators of clients found of a result: a score of it. */
export function evaluationRoute(scores: Pick<ScoreService, 'post'>) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/v1/experiment_evaluations`,
    operationId: 'postPhoenixEvaluation',
    scopes: ['scores:write'],
    summary: 'Store an evaluation of a result (Phoenix)',
    description: 'Stores a score of a result. It replaces the earlier one with the same name and annotator.',
    tag: TAG,
    access: 'key',
    body: jsonBody(EvaluationInput, { lenient: true }),
    responses: { 200: { description: 'The evaluation is stored.', schema: Answer } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body }) {
      const [stored] = await inSentNames(() => scores.post(principal, [scoreOf(body as Evaluation)]), nameOf);
      if (stored === undefined) throw new Error('A score that was stored is not there');
      return { status: 200, body: { data: { id: stored.id } } };
    },
  });
}

type Evaluation = Static<typeof EvaluationInput> & {
  readonly experiment_run_id: string;
  readonly error?: string | null;
};

/** @throws DomainError `invalid` where nothing was found, and nothing went wrong */
function scoreOf(evaluation: Evaluation): ScoreInput {
  const about = { entity_type: 'span', entity_id: evaluation.experiment_run_id } as const;
  const found = scoreOfAnnotation(about, evaluation);
  if (found !== null) return found;
  const { name, annotator_kind, result, error } = evaluation;
  const said = error == null || error === '' ? null : error;
  const why = said ?? result?.explanation ?? null;
  if (why === null || why === '')
    throw invalid([{ pointer: '/result', detail: 'must have a score or a label, or there must be an error' }]);
  const label = { name: said === null ? name : `${name.slice(0, MAX_SCORE_NAME - 6)} error`, annotator_kind };
  const stated = scoreOfAnnotation(about, { ...label, result: { label: why.slice(0, MAX_SCORE_TEXT) } });
  if (stated === null) throw new Error('A label makes no score');
  return stated;
}

/** What the client calls a value of a score. */
const nameOf = (pointer: string) => pointer.replace(/^\/0/, '').replace(/\/value$/, '/result');
