import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { VersionNumber } from '../prompts/schema.js';
import { line, uuid } from '../../engine/schema/parts.js';

export const DEFAULT_CANDIDATES = 3;
/** Default number of held-out completions that are tried. */
export const DEFAULT_EXAMPLES = 30;

export const BASE_VERSION = 'Number of the version to improve. Default: the one tagged `production`, else the latest.';

export const OptimizationInputBody = Type.Object(
  {
    judge_id: optional(
      uuid(
        'Judge that evaluates the outputs of each prompt. Absent: the model compares them with the expected outputs, and only ' +
          'feedback with an expected output is used.',
      ),
    ),
    candidates: optional(
      Type.Integer({
        minimum: 1,
        maximum: 5,
        description: `Number of candidates to write. Default: ${DEFAULT_CANDIDATES}.`,
      }),
    ),
    model: optional(
      line(
        512,
        'Model that writes the candidates, completes with them and, without a judge, compares outputs. Absent: the one bound to ' +
          'the version, else `JUDGE_LLM_MODEL`.',
      ),
    ),
    base_version: optional(Type.Integer({ ...VersionNumber, description: BASE_VERSION })),
    max_examples: optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: `Maximum number of held-out completions to try, those with the latest feedback. Default: ${DEFAULT_EXAMPLES}.`,
      }),
    ),
  },
  { $id: 'OptimizationInput', description: 'How to improve a prompt.' },
);
export type OptimizationInputBody = Static<typeof OptimizationInputBody>;
