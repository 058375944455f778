import { Type } from '@sinclair/typebox';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import { ChoiceInput, ChoiceRead } from '../choice.js';
import { ScoreRead, SignalInput, SignalsInput } from '../schema.js';
import type { ScoreService } from '../score-service.js';
import { TAG, toScoreRead } from './presenters.js';

const SHARED = {
  method: 'POST',
  tag: TAG,
  access: 'key',
  errors: ['invalid', 'overloaded', 'unavailable'],
} as const;

const VALUES =
  'The scores have the source `sdk` and no author. If the definition of the name is numeric or boolean, a text such as ' +
  '`"0.5"` or `"true"` counts as that value.';

/** Signals and choices, scores as the Python SDK sends them. */
export function signalRoutes(scores: Pick<ScoreService, 'postSignal' | 'postSignals' | 'choose'>) {
  return [
    defineRoute({
      ...SHARED,
      path: '/signals',
      operationId: 'postSignal',
      summary: 'Store a signal',
      description: `Stores a signal of the Python SDK as a score. ${VALUES}`,
      body: uncheckedJsonBody(SignalInput, { lenient: true }),
      responses: { 200: { description: 'The score as stored, in an array.', schema: Type.Array(ScoreRead) } },
      async handle({ principal, body }) {
        return { status: 200, body: (await scores.postSignal(principal, body)).map(toScoreRead) };
      },
    }),
    defineRoute({
      ...SHARED,
      path: '/signals/bulk',
      operationId: 'postSignals',
      summary: 'Store signals',
      description: `Stores signals of the Python SDK as scores, all or none. ${VALUES}`,
      body: uncheckedJsonBody(SignalsInput, { lenient: true }),
      responses: {
        200: { description: 'The scores as stored, in the order of the request.', schema: Type.Array(ScoreRead) },
      },
      async handle({ principal, body }) {
        return { status: 200, body: (await scores.postSignals(principal, body)).map(toScoreRead) };
      },
    }),
    defineRoute({
      ...SHARED,
      path: '/ab-choices',
      operationId: 'postAbChoice',
      summary: 'Store a choice of an A/B test',
      description:
        'Stores which variant of an A/B test was chosen for a span, trace or session, as the categorical score ' +
        '`ab.<choice_name>`; a retry changes nothing. A test begins with its first choice. After `duration_days`, the answer is ' +
        '`completed`, and the choice is not stored.',
      body: uncheckedJsonBody(ChoiceInput, { lenient: true }),
      responses: { 200: { description: 'Whether the test runs.', schema: ChoiceRead } },
      handle: async ({ principal, body }) => ({ status: 200, body: await scores.choose(principal, body) }),
    }),
  ];
}
