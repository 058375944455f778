import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { OptimizationRead } from '../../../../features/optimization/http/schema.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Failure } from '../../parts/states.js';
import { TextDiff } from '../../parts/text-diff.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { promptsChanged } from './data.js';
import type { Candidate, Result } from './optimization-result.js';

interface CandidateViewProps {
  readonly slug: string;
  readonly job: OptimizationRead;
  readonly result: Result;
  readonly candidate: Candidate;
  readonly name: string;
}

/** A candidate: what it changes and why, and what came of it beside the version that it is to replace. */
export function CandidateView({ slug, job, result, candidate, name }: CandidateViewProps) {
  const [promoting, setPromoting] = useState(false);
  const { promoted_version: version, rationale } = candidate;
  const diff = (
    <TextDiff
      before={result.current.content}
      after={candidate.content}
      labels={[`Version ${job.base_version}`, name]}
    />
  );
  return (
    <section class="stack" aria-label={name}>
      <div class="line apart">
        <h3>{name}</h3>
        {version === null ? (
          <Button look="main" icon="up" changes onClick={() => setPromoting(true)}>
            Promote to version
          </Button>
        ) : (
          <a href={hrefOf({ screen: 'prompts', id: slug, query: { a: String(job.base_version), b: String(version) } })}>
            Promoted to version {version}
          </a>
        )}
      </div>
      {rationale !== '' && (
        <p class="rationale">
          <bdi>{rationale}</bdi>
        </p>
      )}
      {diff}
      <Outputs result={result} candidate={candidate} name={name} base={`Version ${job.base_version}`} />
      {promoting && (
        <Promote slug={slug} job={job} candidate={candidate} name={name} onClose={() => setPromoting(false)}>
          {diff}
        </Promote>
      )}
    </section>
  );
}

interface PromoteProps extends Omit<CandidateViewProps, 'result'> {
  /** What changes. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

function Promote({ slug, job, candidate, name, children, onClose }: PromoteProps) {
  const { busy, failure, run } = useAction();
  const promote = () =>
    run(async () => {
      const made = await call('POST /projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:promote', {
        params: { prompt_slug: slug, job_id: job.id },
        body: { candidate_id: candidate.id },
      });
      await promptsChanged();
      announce(`${name} promoted to version ${made.version}`);
      onClose();
    });
  return (
    <Dialog title={`Promote ${name.toLowerCase()}`} wide onClose={onClose}>
      <p>
        Promoting makes it the newest version of <bdi>{slug}</bdi>, with the model of version {job.base_version}. Tags
        do not move: pin one to serve it. Changes:
      </p>
      {children}
      {failure !== null && <Failure error={failure} />}
      <div class="line">
        <Button look="main" changes busy={busy} onClick={promote}>
          Promote
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

type Tried = Result['current']['results'][number];

/** Completions that are shown at first. */
const SHOWN = 10;

interface OutputsProps {
  readonly result: Result;
  readonly candidate: Candidate;
  readonly name: string;
  readonly base: string;
}

/** What both prompts made of each completion, beside each other; what came out differently stands first. */
function Outputs({ result, candidate, name, base }: OutputsProps) {
  const [most, setMost] = useState(SHOWN);
  const before = new Map(result.current.results.map((tried) => [tried.span_id, tried]));
  const pairs = candidate.results.map((after) => ({ after, before: before.get(after.span_id) ?? null }));
  const differs = ({ after, before: other }: (typeof pairs)[number]) =>
    Number(other?.evaluation_result !== after.evaluation_result);
  const sorted = pairs.toSorted((one, other) => differs(other) - differs(one));
  return (
    <section class="stack" aria-label="Outputs side by side">
      <h3>Outputs side by side</h3>
      <ol class="stack">
        {sorted.slice(0, most).map((pair) => (
          <li key={pair.after.span_id} class="outputs">
            <div class="outputs-expected">
              <span class="soft">Expected</span>{' '}
              <a href={hrefOf({ screen: 'spans', query: { id: pair.after.span_id, range: 'all' } })}>Open completion</a>
              <p class="output">
                <bdi>{pair.after.expected_output ?? 'None given.'}</bdi>
              </p>
            </div>
            <Output name={base} tried={pair.before} />
            <Output name={name} tried={pair.after} />
          </li>
        ))}
      </ol>
      {sorted.length > most && (
        <Button onClick={() => setMost(sorted.length)}>Show all {counted(sorted.length, 'completion')}</Button>
      )}
    </section>
  );
}

function Output({ name, tried }: { readonly name: string; readonly tried: Tried | null }) {
  const verdict = tried?.evaluation_result ?? null;
  return (
    <div>
      <span class="line">
        <span class="soft">{name}</span>
        {verdict !== null && (
          <span class={`badge ${verdict ? 'good' : 'bad'}`}>
            {verdict ? 'passed' : 'failed'}
            {tried?.score != null && ` ${tried.score}`}
          </span>
        )}
      </span>
      <p class="output">
        <bdi>{tried?.output ?? tried?.failure ?? 'Not tested.'}</bdi>
      </p>
      {tried?.failure != null && tried.output !== null && <p class="bad small">{tried.failure}</p>}
      {tried?.reason != null && (
        <p class="soft small">
          <bdi>{tried.reason}</bdi>
        </p>
      )}
    </div>
  );
}
