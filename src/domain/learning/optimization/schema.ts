import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../schema/inputs.js';
import { VersionNumber } from '../../prompt/schema.js';
import { line, uuid } from '../../schema/parts.js';

export const DEFAULT_CANDIDATES = 3;
/** Default number of held-out completions that are tried. */
export const DEFAULT_EXAMPLES = 30;

export const OptimizationInputBody = Type.Object(
  {
    judge_id: optional(
      uuid(
        'Judge that evaluates what comes of each prompt. Absent: the model compares it with the expected outputs, and only ' +
          'feedback with an expected output is measured by.',
      ),
    ),
    candidates: optional(
      Type.Integer({
        minimum: 1,
        maximum: 5,
        description: `How many candidates are to be written. Default: ${DEFAULT_CANDIDATES}.`,
      }),
    ),
    model: optional(
      line(
        512,
        'Model that writes the candidates and answers with them, and without a judge compares. Absent: the one bound to ' +
          'the version, else `JUDGE_LLM_MODEL`.',
      ),
    ),
    version: optional(
      Type.Integer({ ...VersionNumber, description: 'Version that is to be bettered. Default: the latest.' }),
    ),
    max_examples: optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: `Held-out completions to try at most, those spoken of last. Default: ${DEFAULT_EXAMPLES}.`,
      }),
    ),
  },
  { $id: 'OptimizationInput', description: 'How a prompt is to be bettered.' },
);
export type OptimizationInputBody = Static<typeof OptimizationInputBody>;
