import { useState } from 'preact/hooks';
import { leftOutText } from '../../../../features/comparisons/reports/left-out.js';
import { REPEAT_TEXT, spentText } from '../../../../features/comparisons/words.js';
import { counted, percent } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { When } from '../../parts/figures.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Menu } from '../../parts/menu.js';
import { Answered, Empty } from '../../parts/states.js';
import { announceError } from '../../state/announce.js';
import { ApiError } from '../../state/api.js';
import { download } from '../../state/files.js';
import { hrefOf, place } from '../../state/location.js';
import { TagsShown } from '../experiments/experiment-state.js';
import { ComparedRows } from './compared-rows.js';
import { pathOfComparison, useComparison, type Comparison } from './data.js';
import { DeleteComparison } from './delete-comparison.js';
import { MetricDetail } from './metric-detail.js';
import { useMetricText } from './metric-text.js';
import { MetricTable } from './metric-table.js';
import { VerdictBadge } from './verdict-badge.js';

/** One comparison: what it found, of which metrics, and in which rows. */
export function ComparisonScreen({ id }: { readonly id: string }) {
  const answer = useComparison(id);
  if (answer.error instanceof ApiError && [404, 422].includes(answer.error.status) && answer.data === undefined)
    return (
      <Empty title="Comparison not found" isPage>
        <p>
          It may have been deleted. <a href={hrefOf({ screen: 'comparisons' })}>Show all comparisons</a>
        </p>
      </Empty>
    );
  return (
    <Answered answer={answer} isPage>
      {(comparison) => <Shown comparison={comparison} />}
    </Answered>
  );
}

/** The metric that the address names, else one that decided. */
function shownMetric({ metrics, verdict }: Comparison) {
  const asked = place.value.query.get('metric');
  return (
    metrics.find(({ name }) => name === asked) ?? metrics.find((metric) => metric.verdict === verdict) ?? metrics[0]
  );
}

function Shown({ comparison }: { readonly comparison: Comparison }) {
  const metric = shownMetric(comparison);
  return (
    <div class="stack">
      <Head comparison={comparison} />
      <Finding comparison={comparison} />
      {metric !== undefined && (
        <>
          <MetricTable metrics={comparison.metrics} confidence={comparison.confidence} shown={metric.name} />
          <MetricDetail metric={metric} said={comparison.because} />
          <ComparedRows comparison={comparison} metric={metric} />
        </>
      )}
    </div>
  );
}

const FILES = {
  'text/markdown': ['Markdown', 'md'],
  'application/xml': ['JUnit', 'xml'],
} as const;

function Head({ comparison }: { readonly comparison: Comparison }) {
  const [deleting, setDeleting] = useState(false);
  const { id, candidate, baseline } = comparison;
  const save = (type: string, extension: string) =>
    download(pathOfComparison(id), {}, { type, name: `comparison-${id.slice(0, 8)}.${extension}` }).catch(
      announceError,
    );
  return (
    <>
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="comparisons" label="Comparisons" name={candidate.name}>
            <bdi>{candidate.name}</bdi> with <bdi>{baseline.name}</bdi>
          </HeadingBelow>
          <TagsShown tags={baseline.tag === null ? [] : [baseline.tag]} />
        </div>
        <div class="line">
          <CopyAsCurl path={pathOfComparison(id)} />
          <Menu
            icon="download"
            items={Object.entries(FILES).map(([type, [label, extension]]) => ({
              label,
              run: () => void save(type, extension),
            }))}
          >
            Download
          </Menu>
          <Button look="quiet" icon="trash" changes onClick={() => setDeleting(true)}>
            Delete
          </Button>
        </div>
      </header>
      {deleting && <DeleteComparison comparison={comparison} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** What was found, and what these rows could have found. */
function Finding({ comparison }: { readonly comparison: Comparison }) {
  const { verdict, because, dataset, candidate, baseline, rows, confidence, errors, created_at, is_repeat } =
    comparison;
  const leftOut = leftOutText(comparison);
  const written = useMetricText();
  const arm = ({ id, name, dataset_version, tag }: Comparison['candidate']) => (
    <>
      <a href={hrefOf({ screen: 'experiments', id })}>
        <bdi>{name}</bdi>
      </a>
      {tag !== null && ` (${tag})`} on v{dataset_version}
    </>
  );
  return (
    <section class={`card stack finding is-${verdict}`} aria-label="Finding">
      <div class="line">
        <VerdictBadge of={verdict} />
        <span class="soft">
          {counted(rows, 'row')} of{' '}
          <a href={hrefOf({ screen: 'datasets', id: dataset.name })}>
            <bdi>{dataset.name}</bdi>
          </a>{' '}
          compared, {percent(confidence)} confidence
        </span>
      </div>
      {[...because, ...(is_repeat ? [REPEAT_TEXT] : [])].map((sentence, index) => (
        <p key={index} class={index === 0 ? 'finding-first' : ''}>
          <bdi>{written(sentence)}</bdi>
        </p>
      ))}
      <p class="soft">
        {leftOut !== '' && `Not compared: ${leftOut}. `}
        Candidate {arm(candidate)}, baseline {arm(baseline)}. Results with an error{' '}
        {errors === 'count_as_fail' ? 'count as the worst value' : 'are left out'}. {spentText(comparison.spent)} Made{' '}
        <When at={created_at} relative />.
      </p>
    </section>
  );
}
