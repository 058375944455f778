import { useState } from 'preact/hooks';
import type { CompletionPageRead } from '../../../../features/completions/http/schema.js';
import { feedbackOf, type Opinion } from '../../../model/review.js';
import { boundsOf } from '../../../model/range.js';
import { Choice } from '../../parts/choice.js';
import { PassOrFail } from '../../parts/verdict.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { Steps } from './steps.js';

const PAGE = 50;
type Completion = CompletionPageRead['completions'][number];

const WORDS = { good: 'Good', bad: 'Bad', expected: { label: 'Expected output (optional)', score: false } } as const;

/** Completions of a prompt of which no one said anything, one by one, the newest first. */
export function CompletionReview({ slug }: { readonly slug: string }) {
  const range = place.value.query.get('range') ?? 'all';
  return (
    <div class="stack">
      <div class="line fields">
        <Choice
          label="Completions of"
          name="range"
          any="all time"
          options={[
            ['24h', 'the last 24 hours'],
            ['7d', 'the last 7 days'],
            ['30d', 'the last 30 days'],
          ]}
        />
      </div>
      <Queue key={`${slug} ${range}`} slug={slug} range={range} />
    </div>
  );
}

function Queue({ slug, range }: { readonly slug: string; readonly range: string }) {
  const [page, setPage] = useState({ offset: 0, number: 0 });
  const bounds = boundsOf({ range, from: null, to: null });
  const query = { ...bounds, feedback: 'none', limit: PAGE, offset: page.offset };
  // Not below `/prompts`: what is gone through stays as it is while opinions change the prompt's figures.
  const answer = useQuery({
    key: ['review', 'prompt', slug, query, page.number],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/completions', {
        params: { prompt_slug: slug },
        query,
        signal,
      }),
    keep: false,
  });
  const store = async ({ spanId }: { readonly spanId: string }, opinion: Opinion): Promise<string> => {
    await call('POST /v1/prompts/:prompt_slug/completions/:completion_id/feedback', {
      params: { prompt_slug: slug, completion_id: spanId },
      body: feedbackOf(opinion, { judge: null }),
    });
    void changedAt('/prompts', slug);
    return `Saved: ${opinion.good === true ? 'good' : 'bad'}. Optimization and judges of this prompt learn from it.`;
  };
  return (
    <Answered answer={answer}>
      {({ completions, total }) =>
        completions.length === 0 ? (
          <Empty title="No unreviewed completions">
            <p>
              {range !== 'all' && <a href={hrefOf({ screen: 'review', query: { prompt: slug } })}>Show all time</a>}{' '}
              <a href={hrefOf({ screen: 'spans', query: { prompt_slug: slug, range: 'all' } })}>All completions</a>
            </p>
          </Empty>
        ) : (
          <Steps
            name={`prompt.${slug}`}
            steps={completions.map((completion) => ({
              spanId: completion.id,
              traceId: completion.trace_id,
              completion,
            }))}
            total={total - page.offset}
            before={page.offset}
            words={WORDS}
            store={store}
            onMore={(left) => {
              setQuery({ at: null }, { replace: true });
              setPage({ offset: page.offset + left, number: page.number + 1 });
            }}
          >
            {({ completion }) => <About completion={completion} slug={slug} />}
          </Steps>
        )
      }
    </Answered>
  );
}

/** Which version made it, and what judges said. */
function About({ completion, slug }: { readonly completion: Completion; readonly slug: string }) {
  const { prompt_version, verdicts, has_error } = completion;
  return (
    <div class="stack">
      <p class="line">
        <a
          href={hrefOf({
            screen: 'prompts',
            id: slug,
            query: prompt_version === null ? {} : { b: String(prompt_version) },
          })}
        >
          <bdi>{slug}</bdi> {prompt_version === null ? '' : `v${prompt_version}`}
        </a>
        {has_error && <span class="badge bad">error</span>}
      </p>
      {verdicts.map(({ judge_id, judge_name, evaluation_result, score }) => (
        <p key={judge_id} class="line">
          <PassOrFail passed={evaluation_result} /> {score !== null && `score ${score}`}
          <a href={hrefOf({ screen: 'judges', id: judge_id })}>
            <bdi>{judge_name}</bdi>
          </a>
        </p>
      ))}
    </div>
  );
}
