import { CopyAsCurl } from '../../parts/copy.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { ofJudge, useJudge } from '../judges/data.js';
import { MAX_PAGE, useJudges } from '../judges/lists.js';
import { CompletionReview } from './completion-review.js';
import { VerdictReview } from './verdict-review.js';

/** What no one looked at yet, one by one: completions of a prompt, or verdicts of a judge. */
export default function Review() {
  const { query } = place.value;
  const [slug, judgeId] = [query.get('prompt'), query.get('judge')];
  if (slug !== null)
    return (
      <Shown title={slug} path={ofProject(`/prompts/${encodeURIComponent(slug)}/completions`)} feedback>
        <CompletionReview key={slug} slug={slug} />
      </Shown>
    );
  return judgeId === null ? <WhatToReview /> : <OfJudge key={judgeId} id={judgeId} />;
}

interface ShownProps {
  readonly title: string;
  /** The call that lists what is gone through. */
  readonly path: string;
  readonly feedback?: boolean;
  readonly children: preact.ComponentChildren;
}

function Shown({ title, path, feedback = false, children }: ShownProps) {
  return (
    <div class="stack">
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="review" label="Review" name={title} />
        </div>
        <CopyAsCurl
          path={path}
          query={feedback ? { feedback: 'none' } : { agreement: 'unreviewed', sort_by: 'confidence' }}
        />
      </header>
      {children}
    </div>
  );
}

function OfJudge({ id }: { readonly id: string }) {
  return (
    <Answered answer={useJudge(id)} isPage>
      {(judge) => (
        <Shown title={judge.name} path={ofJudge(id, '/evaluations')}>
          <VerdictReview judge={judge} />
        </Shown>
      )}
    </Answered>
  );
}

/** Prompts and judges, to choose one of. */
function WhatToReview() {
  const judges = useJudges({ offset: 0, limit: MAX_PAGE });
  const prompts = useQuery({
    key: ['/prompts', 'review'],
    ask: (signal) => call('GET /projects/:project_id/prompts', { query: { limit: 1000 }, signal }),
  });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Review</h1>
      </header>
      <p class="soft">
        Prompts and judges learn from your feedback. Choose completions or verdicts to review one by one.
      </p>
      <section class="stack">
        <h2>Prompt completions</h2>
        <Answered answer={prompts} rows={3}>
          {(list) => (
            <Choices
              none={
                <>
                  None yet. <a href={hrefOf({ screen: 'prompts' })}>Prompts</a>
                </>
              }
              items={list.map(({ slug }) => ({
                name: slug,
                href: hrefOf({ screen: 'review', query: { prompt: slug } }),
              }))}
            />
          )}
        </Answered>
      </section>
      <section class="stack">
        <h2>Judge verdicts</h2>
        <Answered answer={judges} rows={3}>
          {(list) => (
            <Choices
              none={
                <>
                  None yet. <a href={hrefOf({ screen: 'judges' })}>Judges</a>
                </>
              }
              items={list.map(({ id, name }) => ({ name, href: hrefOf({ screen: 'review', query: { judge: id } }) }))}
            />
          )}
        </Answered>
      </section>
    </div>
  );
}

interface ChoicesProps {
  readonly none: preact.ComponentChildren;
  readonly items: readonly { readonly name: string; readonly href: string }[];
}

function Choices({ none, items }: ChoicesProps) {
  if (items.length === 0) return <p class="soft">{none}</p>;
  return (
    <ul class="chips">
      {items.map(({ name, href }) => (
        <li key={href}>
          <a class="chip" href={href}>
            <bdi class="clip">{name}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
