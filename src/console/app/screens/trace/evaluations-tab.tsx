import { useState } from 'preact/hooks';
import type { JudgeRead } from '../../../../features/judges/schema.js';
import type { UnifiedItemRead } from '../../../../features/feedback/unified-schema.js';
import { duration, NOTHING, percent } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Markdown } from '../../parts/markdown.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useFeedback } from '../scores/data.js';
import { SpanScores } from '../scores/span-scores.js';
import { FeedbackForm } from './feedback-form.js';
import type { SpanHeadRead } from './span-head.js';

/** Verdicts shown at most; the call behind them answers all. */
const SHOWN = 100;

type Evaluation = Extract<UnifiedItemRead, { kind: 'judge_evaluation' }>;
type HumanFeedback = Extract<UnifiedItemRead, { kind: 'human_feedback' }>;

/** What judges and people say of the span, and where to say more. */
export function EvaluationsTab({ span }: { readonly span: SpanHeadRead }) {
  const said = useFeedback({ type: 'span', id: span.id }, { limit: SHOWN });
  const judges = useQuery({
    key: [ofProject('/judges'), 'all'],
    ask: (signal) => call('GET /projects/:project_id/judges', { query: { limit: 500 }, signal }),
  });
  return (
    <Answered answer={said}>
      {({ items, summary }) => {
        const evaluations = items.filter((item) => item.kind === 'judge_evaluation');
        const people = items.filter((item) => item.kind === 'human_feedback');
        const silent = (judges.data ?? []).filter(
          ({ id }) => !evaluations.some(({ automation_id }) => automation_id === id),
        );
        return (
          <div class="stack">
            {summary.total > items.length && (
              <p class="soft">
                Showing the newest {items.length} of {summary.total}.
              </p>
            )}
            <SpanScores id={span.id} />
            <h3>Judges</h3>
            {evaluations.length === 0 && <p class="soft">No judge evaluations of this span.</p>}
            {evaluations.map((evaluation) => (
              <Verdict
                key={evaluation.id}
                span={span}
                evaluation={evaluation}
                judge={judges.data?.find(({ id }) => id === evaluation.automation_id)}
                said={people.filter(({ judge_id }) => judge_id === evaluation.automation_id)}
              />
            ))}
            {silent.map((judge) => (
              <WhyNot key={judge.id} judge={judge} spanId={span.id} />
            ))}
            <h3>People</h3>
            {people
              .filter(({ source_type }) => source_type === 'human')
              .map((item) => (
                <Said key={item.id} item={item} />
              ))}
            {span.prompt_slug === null ? (
              <p class="soft">
                Thumbs and expected outputs belong to a prompt, and this span does not name one (
                <code>prompt_slug</code>).
              </p>
            ) : (
              <FeedbackForm key={span.id} about="Output" slug={span.prompt_slug} spanId={span.id} />
            )}
          </div>
        );
      }}
    </Answered>
  );
}

interface VerdictProps {
  readonly span: SpanHeadRead;
  readonly evaluation: Evaluation;
  /** Undefined: it was deleted. */
  readonly judge: JudgeRead | undefined;
  /** What people say of this judge here. */
  readonly said: readonly HumanFeedback[];
}

function Verdict({ span, evaluation, judge, said }: VerdictProps) {
  const { automation_id, judge_name, evaluation_result, evaluation_reason, confidence_score, model_used, score } =
    evaluation;
  return (
    <article class="message stack">
      <div class="line">
        <span class={`badge ${evaluation_result ? 'good' : 'bad'}`}>
          <Icon name={evaluation_result ? 'check' : 'close'} /> {evaluation_result ? 'passed' : 'failed'}
        </span>
        {score != null && (
          <span>
            {score} of {evaluation.score_max ?? NOTHING}
          </span>
        )}
        <a href={hrefOf({ screen: 'judges', id: automation_id })}>
          <bdi>{judge_name}</bdi>
        </a>
        <span class="soft small">
          {confidence_score !== null && <>{percent(confidence_score)} confidence, </>}
          {model_used !== null && (
            <>
              <bdi>{model_used}</bdi>,{' '}
            </>
          )}
          {evaluation.evaluation_duration_ms !== null && <>{duration(evaluation.evaluation_duration_ms)}, </>}
          <When at={evaluation.created_at} />
        </span>
      </div>
      <Markdown text={evaluation_reason} />
      {said.map((item) => (
        <Said key={item.id} item={item} />
      ))}
      {judge === undefined ? (
        <p class="soft">This judge was deleted: you can no longer correct it.</p>
      ) : (
        <FeedbackForm key={span.id} about="Judge" slug={judge.task_slug} spanId={span.id} judge={judge} />
      )}
    </article>
  );
}

function Said({ item }: { readonly item: HumanFeedback }) {
  const { thumbs_up, reason, expected_output, created_by, updated_at, judge_id } = item;
  const words = judge_id === undefined ? ['thumbs up', 'thumbs down'] : ['agrees', 'disagrees'];
  return (
    <div class="part">
      <p class="line">
        <span class={thumbs_up ? 'good' : 'bad'}>
          <Icon name={thumbs_up ? 'thumbs-up' : 'thumbs-down'} />
        </span>
        <span>
          <bdi>{created_by.name}</bdi>: {thumbs_up ? words[0] : words[1]}
        </span>
        <span class="soft small">
          <When at={updated_at} />
        </span>
      </p>
      {reason !== null && <Markdown text={reason} />}
      {expected_output !== undefined && (
        <>
          <p class="part-label">Expected output</p>
          <Markdown text={expected_output} />
        </>
      )}
    </div>
  );
}

/** Why a judge has not evaluated the span, when someone asks. */
function WhyNot({ judge, spanId }: { readonly judge: JudgeRead; readonly spanId: string }) {
  const [asked, setAsked] = useState(false);
  const params = { judge_id: judge.id, span_id: spanId };
  const answer = useQuery({
    key: [ofProject(`/judges/${judge.id}/explain/${spanId}`)],
    ask: (signal) => call('GET /projects/:project_id/judges/:judge_id/explain/:span_id', { params, signal }),
    enabled: asked,
  });
  return (
    <div class="part">
      <p class="line">
        <a href={hrefOf({ screen: 'judges', id: judge.id })}>
          <bdi>{judge.name}</bdi>
        </a>
        {!asked && (
          <Button look="quiet" icon="help" onClick={() => setAsked(true)}>
            Why not?
          </Button>
        )}
      </p>
      {asked && (
        <Answered answer={answer} rows={1}>
          {({ explanation, mismatches }) => (
            <>
              <p>{explanation}</p>
              {mismatches.map(({ filter, wanted, found }) => (
                <p key={filter}>
                  <code>{filter}</code>: expected <bdi>{wanted}</bdi>, found <bdi>{found}</bdi>
                </p>
              ))}
            </>
          )}
        </Answered>
      )}
    </div>
  );
}
