import { resultsDue, type Experiment } from '../../../model/experiments.js';
import { count, counted } from '../../../model/format.js';
import { Icon } from '../../parts/icon.js';

const LOOKS = { running: '', finished: 'good', canceled: '', expired: 'warn' } as const;

/** How an experiment stands, and how many of its results are there. */
export function ExperimentState({ of: experiment }: { readonly of: Experiment }) {
  const { status, figures } = experiment;
  const due = resultsDue(experiment);
  return (
    <span class="line whole">
      <span class={`badge ${LOOKS[status]}`}>
        {status === 'running' && <Icon name="running" />} {status}
      </span>
      {status === 'running' && (
        <progress aria-label="Results received" value={figures.results} max={Math.max(1, due)} />
      )}
      <span class="soft">
        {status === 'running' || figures.results < due
          ? `${count(figures.results)} of ${count(due)}`
          : counted(due, 'result')}
      </span>
    </span>
  );
}

/** Tags that point to it. */
export function TagsShown({ tags }: { readonly tags: readonly string[] }) {
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="badge good">
          <Icon name="tag" /> {tag}
        </span>
      ))}
    </>
  );
}
