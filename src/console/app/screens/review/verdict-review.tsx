import { useState } from 'preact/hooks';
import type { UnifiedItemRead } from '../../../../features/feedback/unified-schema.js';
import type { EvaluationRead, JudgeRead } from '../../../../features/judges/schema.js';
import { feedbackOf, type Opinion } from '../../../model/review.js';
import { AgreementByVersion } from '../../parts/agreement.js';
import { Choice } from '../../parts/choice.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Markdown } from '../../parts/markdown.js';
import { Answered, Empty } from '../../parts/states.js';
import { CriteriaShown, VerdictShown } from '../../parts/verdict.js';
import { call } from '../../state/api.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { changedAt, known, useQuery } from '../../state/query.js';
import { storeCorrection, useCalibration } from '../judges/data.js';
import { Steps, type Step } from './steps.js';

/** Verdicts on one page of those to go through. */
const PAGE = 50;
/** Versions shown beside: before and after. */
const VERSIONS = 6;

/** Verdicts of a judge one by one: those of which no one said anything, or those that someone found wrong. */
export function VerdictReview({ judge }: { readonly judge: JudgeRead }) {
  const agreement = place.value.query.get('agreement') ?? 'unreviewed';
  return (
    <div class="stack">
      <div class="line fields">
        <Choice
          label="Verdicts"
          name="agreement"
          any="unreviewed, lowest confidence first"
          options={[
            ['disagreed', 'people disagreed with'],
            ['agreed', 'people agreed with'],
          ]}
        />
      </div>
      <Queue key={`${judge.id} ${agreement}`} judge={judge} agreement={agreement} />
      <Answered answer={useCalibration(judge.id)} rows={3}>
        {(report) => (
          <section class="stack">
            <h2>Impact of corrections</h2>
            <AgreementByVersion judgeId={judge.id} report={report} newest={VERSIONS} />
          </section>
        )}
      </Answered>
    </div>
  );
}

interface QueueProps {
  readonly judge: JudgeRead;
  readonly agreement: string;
}

function Queue({ judge, agreement }: QueueProps) {
  const [page, setPage] = useState({ offset: 0, number: 0 });
  const query = { agreement, sort_by: 'confidence', limit: PAGE, offset: page.offset };
  // Not below `/judges`: what is gone through stays as it is while opinions change the judge.
  const answer = useQuery({
    key: ['review', judge.id, query, page.number],
    ask: (signal) =>
      call('GET /projects/:project_id/judges/:judge_id/evaluations', {
        params: { judge_id: judge.id },
        query,
        signal,
      }),
    keep: false,
  });
  const store = async ({ spanId, evaluation }: Verdict, opinion: Opinion): Promise<string> => {
    const body = feedbackOf(opinion, { judge });
    // What is corrected is what it said last.
    const isLast = evaluation.id === (await lastEvaluation(judge, spanId));
    const words = await storeCorrection({ judge, spanId, body, exact: isLast ? evaluation.judge_version : undefined });
    void changedAt('/feedback', spanId);
    return words;
  };
  return (
    <Answered answer={answer}>
      {({ evaluations, total }) =>
        evaluations.length === 0 ? (
          <NothingLeft judge={judge} agreement={agreement} />
        ) : (
          <Steps
            name={`judge.${judge.id}`}
            steps={stepsOf(evaluations)}
            total={total - (evaluations.length - stepsOf(evaluations).length) - page.offset}
            before={page.offset}
            words={{
              good: 'Agree',
              bad: 'Disagree',
              expected:
                judge.evaluation_type === 'scored'
                  ? { label: 'Expected score (optional)', hint: scale(judge), score: true }
                  : null,
              ...(judge.evaluation_type === 'scored' && { criteria: judge.criteria }),
            }}
            store={store}
            onMore={(left) => {
              setQuery({ at: null }, { replace: true });
              setPage({ offset: page.offset + left, number: page.number + 1 });
            }}
          >
            {(step) => <VerdictBeside key={step.spanId} judge={judge} step={step} />}
          </Steps>
        )
      }
    </Answered>
  );
}

interface Verdict extends Step {
  readonly evaluation: EvaluationRead;
}

/** Feedback is on the latest evaluation of a span: each span comes once. */
function stepsOf(evaluations: readonly EvaluationRead[]): Verdict[] {
  const seen = new Set<string>();
  return evaluations.flatMap((evaluation) => {
    if (seen.has(evaluation.span_id)) return [];
    seen.add(evaluation.span_id);
    return [{ spanId: evaluation.span_id, traceId: evaluation.trace_id, evaluation }];
  });
}

function scale({ score_min, score_max, pass_threshold }: JudgeRead): string {
  return `From ${score_min} to ${score_max}; passing score ${pass_threshold}.`;
}

/** The id of what the judge said last of a span; undefined: that could not be read. */
async function lastEvaluation(judge: JudgeRead, spanId: string): Promise<string | undefined> {
  const feedback = await known(feedbackOn(spanId));
  return feedback?.items.find((item): item is Evaluation => isBy(judge, item))?.id;
}

function feedbackOn(spanId: string) {
  return {
    key: ['/feedback', spanId],
    ask: (signal: AbortSignal) =>
      call('GET /projects/:project_id/feedback/:entity_type/:entity_id', {
        params: { entity_type: 'span', entity_id: spanId },
        signal,
      }),
  };
}

function NothingLeft({ judge, agreement }: QueueProps) {
  const to = (query: Record<string, string>) => hrefOf({ screen: 'judges', id: judge.id, query });
  if (agreement !== 'unreviewed')
    return (
      <Empty title={agreement === 'disagreed' ? 'No disagreements' : 'No agreements yet'}>
        <a href={to({ tab: 'correct' })}>Show unreviewed verdicts</a>
      </Empty>
    );
  return (
    <Empty title="No unreviewed verdicts">
      <p>
        The judge has no evaluations yet, or all are reviewed. <a href={to({ tab: 'evaluations' })}>Show evaluations</a>
      </p>
    </Empty>
  );
}

type Evaluation = Extract<UnifiedItemRead, { kind: 'judge_evaluation' }>;
type HumanFeedback = Extract<UnifiedItemRead, { kind: 'human_feedback' }>;

const isBy = ({ id }: JudgeRead, item: UnifiedItemRead) =>
  item.kind === 'judge_evaluation' && item.automation_id === id;

/** What the judge said last of the span, and what people said of that. */
function VerdictBeside({ judge, step }: { readonly judge: JudgeRead; readonly step: Verdict }) {
  const { spanId, evaluation } = step;
  const answer = useQuery({ ...feedbackOn(spanId), keep: false });
  const items = answer.data?.items ?? [];
  const latest = items.find((item): item is Evaluation => isBy(judge, item));
  const people = items.filter(
    (item): item is HumanFeedback => item.kind === 'human_feedback' && item.judge_id === judge.id,
  );
  const isOther = latest !== undefined && latest.id !== evaluation.id;
  return (
    <div class="stack">
      <h3>
        Verdict by <bdi>{judge.name}</bdi>
      </h3>
      {isOther && <p class="soft">The judge has re-evaluated this span since; this is its latest verdict.</p>}
      <VerdictShown of={isOther ? verdictOf(latest) : evaluation} />
      {people.map(({ id, thumbs_up, reason, created_by, updated_at, criteria_feedback }) => (
        <div key={id}>
          <p class="line">
            <Icon name={thumbs_up ? 'thumbs-up' : 'thumbs-down'} />
            <bdi>{created_by.name}</bdi> {thumbs_up ? 'agreed' : 'disagreed'}
            <span class="soft small">
              <When at={updated_at} relative />
            </span>
          </p>
          {reason !== null && <Markdown text={reason} />}
          {criteria_feedback !== undefined && (
            <CriteriaShown
              of={Object.entries(criteria_feedback).map(([key, { expected_score: score, reason }]) => [
                key,
                { score, reason },
              ])}
            />
          )}
        </div>
      ))}
    </div>
  );
}

function verdictOf({ score, score_max, criteria_scores, ...rest }: Evaluation) {
  const criteria = Object.entries(criteria_scores ?? {}).map(([key, value]) => [
    key,
    { score: value.score ?? 0, reason: value.reason ?? '' },
  ]);
  return {
    ...rest,
    score: score ?? null,
    score_max: score_max ?? null,
    criteria_scores:
      criteria_scores === undefined ? null : (Object.fromEntries(criteria) as EvaluationRead['criteria_scores']),
  };
}
