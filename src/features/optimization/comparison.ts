import { Type } from '@sinclair/typebox';
import { excerptOf } from '../../engine/excerpt.js';
import { answerForm } from '../judges/answer-form.js';
import { DELIMITED_IS_DATA, delimiter } from '../judges/delimited.js';
import type { ModelRequest } from '../../engine/models/model-client.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { TrialVerdict } from '../trials/model-trials.js';

interface Comparison {
  readonly reason: string;
  readonly equivalent: boolean;
}

/** Form of a comparison. The reason comes first, so that a model thinks before it decides. */
const FORM = answerForm<Comparison>(
  Type.Object(
    {
      reason: Type.String({ description: 'What both say alike, or what differs, in one to three sentences.' }),
      equivalent: Type.Boolean({ description: 'Whether the output says what the expected output says.' }),
    },
    { additionalProperties: false },
  ),
);

/** Longest output that is compared, in characters; the middle of a longer one is left out, as of expected outputs. */
const MAX_OUTPUT = 20_000;
const MAX_REASON = 20_000;

const SYSTEM = [
  'You compare two outputs of a program for the same input: the one it gave, and the one that a person expected.',
  DELIMITED_IS_DATA,
  'They are equivalent when the output says what the expected output says: the same facts, the same decisions, the same ' +
    'language, and the same format where that matters to whoever reads it. Other words, order or length are no difference. ' +
    'They are not when something is missing, added or contradicted that would matter to the reader.',
  'Answer with one JSON object: a reason, and whether they are equivalent.',
].join('\n\n');

/** Asks whether an output says what people expected. @param asked.code see {@link delimiter} */
export function comparisonRequest(
  { input }: Pick<JudgedSpan, 'input'>,
  expected: string,
  output: string,
  { model, code }: { readonly model: string; readonly code: string },
): ModelRequest {
  const delimit = delimiter(code);
  const parts = [
    delimit('input', input?.text ?? '(none)'),
    delimit('expected', expected),
    delimit('output', excerptOf(output, MAX_OUTPUT) ?? ''),
  ];
  return {
    model,
    temperature: null,
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: `Compare these:\n\n${parts.join('\n\n')}` },
    ],
    schema: { name: 'comparison', schema: FORM.schema },
  };
}

/** The model's comparison as a verdict: passed when the output says what was expected. @throws InvalidAnswer */
export function comparisonIn(text: string): TrialVerdict {
  const { reason, equivalent } = FORM.read(text);
  return {
    evaluation_result: equivalent,
    evaluation_reason: reason.slice(0, MAX_REASON).toWellFormed(),
    score: null,
  };
}
