import { excerptOf } from '../calibration/excerpt.js';
import type { StoredFeedback } from '../../feedback/feedback.js';
import { isHeldOut } from '../trial/held-out.js';

/** What people said of one completion of a prompt. */
export interface TrainingExample {
  readonly span_id: string;
  /** What was said of it last. */
  readonly thumbs_up: boolean;
  /** The newest one. */
  readonly expected_output: string | null;
  /** Newest first. */
  readonly reasons: readonly string[];
}

const MAX_REASONS = 5;
/** Of longer expected outputs and reasons the middle is left out. */
const MAX_EXPECTED = 20_000;
const MAX_REASON = 4_000;

/** What can be learned from, the completion spoken of last first. @param feedback the last changed first */
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

/** What a better prompt is learned from, and what it is measured by. */
export interface TrainingExamples {
  /** Those with an expected output or a reason come first. */
  readonly training: readonly TrainingExample[];
  readonly held_out: readonly TrainingExample[];
}

/** What says how good an output is: a judge, or the model, which holds it against the expected output. */
export type ComparedBy = 'judge' | 'model';

/** Bare thumbs down say neither what was wrong nor what would be right. The model needs something to hold outputs against. */
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

export function hasExplanation({ expected_output, reasons }: TrainingExample): boolean {
  return expected_output !== null || reasons.length > 0;
}

function isSaid(text: string | null): boolean {
  return text !== null && text.trim() !== '';
}
