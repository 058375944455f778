import type { Static } from '@sinclair/typebox';
import type { CriteriaScoresRead } from '../../../features/judges/schema.js';
import { percent } from '../../model/format.js';
import { Icon } from './icon.js';
import { Markdown } from './markdown.js';

interface Verdict {
  readonly evaluation_result: boolean;
  readonly evaluation_reason: string;
  readonly confidence_score: number | null;
  readonly score: number | null;
  readonly score_max?: number | null;
  readonly criteria_scores: Static<typeof CriteriaScoresRead>;
}

export function PassOrFail({ passed }: { readonly passed: boolean }) {
  return (
    <span class={`badge ${passed ? 'good' : 'bad'}`}>
      <Icon name={passed ? 'check' : 'close'} /> {passed ? 'passed' : 'failed'}
    </span>
  );
}

/** What a judge said of a span, and why. */
export function VerdictShown({ of }: { readonly of: Verdict }) {
  const { evaluation_result, evaluation_reason, confidence_score, score, score_max = null, criteria_scores } = of;
  return (
    <div class="stack">
      <p class="line">
        <PassOrFail passed={evaluation_result} />
        {score !== null && (
          <span>
            score {score}
            {score_max !== null && ` of ${score_max}`}
          </span>
        )}
        {confidence_score !== null && <span class="soft">{percent(confidence_score)} confidence</span>}
      </p>
      {evaluation_reason === '' ? <p class="soft">No reason given.</p> : <Markdown text={evaluation_reason} />}
      {criteria_scores !== null && <CriteriaShown of={Object.entries(criteria_scores)} />}
    </div>
  );
}

interface SaidOfCriterion {
  readonly score: number | null;
  readonly reason: string | null;
}

/** What a judge or a person said of single criteria, by their keys. */
export function CriteriaShown({ of }: { readonly of: readonly (readonly [key: string, said: SaidOfCriterion])[] }) {
  return (
    <dl class="pairs">
      {of.map(([key, { score, reason }]) => (
        <>
          <dt>
            <bdi>{key}</bdi>
            {score !== null && `: ${score}`}
          </dt>
          <dd>
            <bdi>{reason}</bdi>
          </dd>
        </>
      ))}
    </dl>
  );
}
