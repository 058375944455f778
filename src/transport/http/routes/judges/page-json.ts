import { Readable } from 'node:stream';
import type { NamedEvaluation } from '../../../../domain/judge/evaluation.js';
import type { EvaluationItems, EvaluationPage } from '../../../../domain/judge/evaluation-lists.js';
import type { Window } from '../../../../domain/schema/page.js';
import type { SerialisedResult } from '../../route.js';
import { evaluationRead, namedEvaluationRead } from './presenters.js';

/** The answer that is a page of evaluations, written as they are read: together they may be larger than memory. */
export function evaluationPageAnswer({ total, items }: EvaluationPage, { limit, offset }: Window): SerialisedResult {
  return answer({ total, limit, offset }, items, evaluationRead);
}

/** The answer that is all evaluations of a span, written as they are read. */
export function spanEvaluationsAnswer(span_id: string, items: EvaluationItems): SerialisedResult {
  return answer({ span_id }, items, namedEvaluationRead);
}

type Present = (evaluation: NamedEvaluation) => object;

function answer(head: object, items: EvaluationItems, present: Present): SerialisedResult {
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
