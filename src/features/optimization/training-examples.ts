import { excerptOf } from '../../engine/excerpt.js';
import type { StoredFeedback } from '../feedback/feedback.js';
import { isHeldOut } from '../trials/held-out.js';
import type { Halves } from '../trials/readiness.js';

/** Feedback of people on one completion of a prompt. */
export interface TrainingExample {
  readonly span_id: string;
  /** Thumbs of the newest feedback. */
  readonly thumbs_up: boolean;
  /** The newest expected output. */
  readonly expected_output: string | null;
  /** Reasons, newest first. */
  readonly reasons: readonly string[];
}

const MAX_REASONS = 5;
/** Longest expected output, in characters; the middle of a longer one is left out, as of a reason. */
const MAX_EXPECTED = 20_000;
const MAX_REASON = 4_000;

/** Training examples, the completion with the newest feedback first. @param feedback the last changed first */
export function trainingExamplesOf(feedback: readonly StoredFeedback[]): TrainingExample[] {
  const spans = new Map<string, StoredFeedback[]>();
  for (const each of feedback) {
    const known = spans.get(each.completion_id);
    if (known === undefined) spans.set(each.completion_id, [each]);
    else known.push(each);
  }
  return [...spans].map(([span_id, given]) => ({
    span_id,
    thumbs_up: given[0]?.thumbs_up ?? false,
    expected_output: excerptOf(
      given.find(({ expected_output }) => isSaid(expected_output))?.expected_output ?? null,
      MAX_EXPECTED,
    ),
    reasons: given
      .flatMap(({ reason }) => (isSaid(reason) ? (excerptOf(reason, MAX_REASON) ?? []) : []))
      .slice(0, MAX_REASONS),
  }));
}

/** Examples to write a better prompt from, and held-out ones to measure it by. */
export interface TrainingExamples {
  /** Training examples, with those that have an expected output or a reason first. */
  readonly training: readonly TrainingExample[];
  readonly held_out: readonly TrainingExample[];
}

/** Evaluator of outputs: a judge, or the model, which compares them with the expected outputs. */
export type ComparedBy = 'judge' | 'model';

/** Splits examples, except for bare thumbs down, which teach nothing. The model compares with expected outputs alone. */
export function splitTrainingExamples(examples: readonly TrainingExample[], comparedBy: ComparedBy): TrainingExamples {
  const useful = examples.filter((example) => example.thumbs_up || hasExplanation(example));
  const training = useful.filter(({ span_id }) => !isHeldOut(span_id));
  return {
    training: [...training.filter(hasExplanation), ...training.filter((example) => !hasExplanation(example))],
    held_out: useful.filter(
      ({ span_id, expected_output }) => isHeldOut(span_id) && (comparedBy === 'judge' || expected_output !== null),
    ),
  };
}

/** Fewest completions to learn from, and to measure by: fewer would teach or show nothing. */
const MIN_COMPLETIONS = 3;

/** Parts of feedback that outputs are measured by, in words. */
const MEASURED_BY: Readonly<Record<ComparedBy, string>> = {
  judge: 'an expected output, a reason or thumbs up',
  model: 'an expected output',
};

/** How many examples either half has of those that it needs. */
export function halvesOf({ training, held_out }: TrainingExamples): Halves {
  return {
    training: { needed: MIN_COMPLETIONS, have: training.filter(hasExplanation).length },
    held_out: { needed: MIN_COMPLETIONS, have: held_out.length },
  };
}

/** What to do about halves with too few examples. */
export function tooLittle({ training, held_out }: Halves, by: ComparedBy): string {
  return (
    `Give feedback on more completions of this prompt: training needs ${training.needed} completions with an expected output or a reason ` +
    `and has ${training.have}; the held-out half needs ${held_out.needed} others with ${MEASURED_BY[by]} ` +
    `and has ${held_out.have}. A completion counts if its span is stored and has an input; a hash of its id decides ` +
    `its half.${by === 'judge' ? '' : ' With a `judge_id`, reasons and thumbs up count too.'}`
  );
}

function hasExplanation({ expected_output, reasons }: TrainingExample): boolean {
  return expected_output !== null || reasons.length > 0;
}

function isSaid(text: string | null): boolean {
  return text !== null && text.trim() !== '';
}
