import type { FeedbackInput } from '../../features/feedback/schema.js';

/** What a person is about to say of one completion, or of one verdict of a judge. */
export interface Opinion {
  /** Whether it is good, or the judge right; null: nothing is chosen yet. */
  readonly good: boolean | null;
  readonly reason: string;
  /** The expected output, or the expected score. */
  readonly expected: string;
  /** What is said of single criteria of a scored judge, by their keys. */
  readonly criteria?: Readonly<Record<string, CriterionOpinion>>;
  /** Whether it was sent as it is. */
  readonly stored: boolean;
}

export interface CriterionOpinion {
  readonly score: string;
  readonly reason: string;
}

export const NO_OPINION: Opinion = { good: null, reason: '', expected: '', stored: false };

/** Opinions by span, kept by the browser until its tab is closed, so that nothing is lost on reload. */
export type Opinions = Readonly<Record<string, Opinion>>;

/** Most opinions that are kept. */
const KEPT = 500;

/** An opinion that changed is to be sent again, which replaces what was sent before. */
export function said(opinions: Opinions, id: string, change: Partial<Opinion>): Opinions {
  const before = Object.hasOwn(opinions, id) ? opinions[id] : undefined;
  const others = Object.entries(opinions).filter(([other]) => other !== id);
  // Made of entries: spreading objects of hundreds of names took milliseconds, and at times a hundred.
  return Object.fromEntries([...others.slice(1 - KEPT), [id, { ...(before ?? NO_OPINION), stored: false, ...change }]]);
}

/** Texts that someone kept may be anything. */
export function opinionsIn(text: string | null): Opinions {
  try {
    const read: unknown = JSON.parse(text ?? '{}');
    return typeof read === 'object' && read !== null ? (read as Opinions) : {};
  } catch {
    return {};
  }
}

interface About {
  /** Null: it is about the completion itself. */
  readonly judge: { readonly id: string; readonly evaluation_type: 'binary' | 'scored' } | null;
}

/** What the API takes. @throws never: a score that is no number is sent as it is, and refused by name */
export function feedbackOf(opinion: Opinion, { judge }: About): FeedbackInput {
  const { good, reason, expected, criteria = {} } = opinion;
  const why = reason.trim() === '' ? {} : { reason };
  if (judge === null) return { thumbs_up: good, ...why, ...(expected !== '' && { expected_output: expected }) };
  const scored = judge.evaluation_type === 'scored' && good === false;
  const spokenOf = Object.entries(criteria).filter(([, said]) => said.score.trim() !== '' || said.reason.trim() !== '');
  return {
    judge_id: judge.id,
    judge_was_right: good,
    ...why,
    ...(scored && scoreOf(expected)),
    ...(scored &&
      spokenOf.length > 0 && {
        criteria_feedback: Object.fromEntries(
          spokenOf.map(([key, said]) => [
            key,
            { ...scoreOf(said.score), ...(said.reason.trim() !== '' && { reason: said.reason }) },
          ]),
        ),
      }),
  };
}

/** A text that is no number stays one, whatever the type says: the API is to refuse it by name. */
function scoreOf(text: string): Pick<FeedbackInput, 'expected_score'> {
  if (text.trim() === '') return {};
  const score = Number(text);
  return { expected_score: Number.isNaN(score) ? (text as unknown as number) : score };
}
