import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../../engine/errors.js';
import { orNull } from '../../engine/schema/parts.js';
import { compile } from '../../engine/validation/validation.js';
import type { PinnedCorrection } from '../judges/pin.js';
import type { ExampleCorrection } from './correction.js';
import { exampleLine } from './example-text.js';
import type { PoolEntry } from './example-pool.js';

/** Most examples of a pinned version. */
export const MAX_KEPT_EXAMPLES = 1_000;
/** Most bytes of one as JSON: what is kept here has a third of it at most. */
const MAX_BYTES = 64 * 1024;

const text = () => orNull(Type.String());
const number = () => orNull(Type.Number());

/** What is kept of a correction: its texts stand in the line, those of its span in `step`, by which it is chosen. */
const KeptExample = Type.Object({
  correction: Type.Object({
    span_id: Type.String(),
    row_key: Type.Optional(text()),
    revision: Type.Number(),
    thumbs_up: Type.Boolean(),
    expected_score: number(),
    score_direction: orNull(Type.Union([Type.Literal('too_high'), Type.Literal('too_low')])),
    reason: Type.Null(),
    expected_output: Type.Null(),
    criteria_feedback: Type.Null(),
    given_at: Type.Number(),
    evaluation: Type.Object({
      evaluation_result: Type.Boolean(),
      score: number(),
      score_min: number(),
      score_max: number(),
      pass_threshold: number(),
      judge_version: text(),
      evaluation_reason: Type.String(),
    }),
  }),
  step: Type.Object({ input: text(), output: text() }),
  line: Type.String(),
});

const validator = compile(KeptExample);

export function keptExample(entry: PoolEntry): PinnedCorrection {
  const { correction, input, output } = entry;
  const evaluation = { ...correction.evaluation, evaluation_reason: '' };
  const kept: Static<typeof KeptExample> = {
    correction: { ...correction, reason: null, expected_output: null, criteria_feedback: null, evaluation },
    step: { input, output },
    line: exampleLine(entry),
  };
  return { span_id: correction.span_id, example: JSON.stringify(kept) };
}

export function readKeptExample(example: string) {
  const { correction, step, line } = JSON.parse(example) as Static<typeof KeptExample>;
  return { correction: correction as ExampleCorrection, step, line };
}

/** What keeps an example that comes from elsewhere from being shown to a judge. */
export function keptExampleIssues({ span_id, example }: Readonly<Record<string, unknown>>): Issue[] {
  if (Buffer.byteLength(JSON.stringify(example)) > MAX_BYTES)
    return [{ pointer: '/example', detail: `must have at most ${MAX_BYTES} bytes as JSON` }];
  const issues = validator.issues(example, '/example');
  if (issues.length > 0) return [...issues];
  // It goes with this span.
  const said = (example as Static<typeof KeptExample>).correction.span_id;
  return said === span_id ? [] : [{ pointer: '/span_id', detail: 'must be that of the correction in the example' }];
}
