import { useState } from 'preact/hooks';
import { BASELINE, sideOfTag, type Experiment } from '../../../model/experiments.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Empty } from '../../parts/states.js';
import { ApiError } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { pathOfExperiment, useExperiment } from './data.js';
import { useTagged } from './tagged.js';
import { DeleteExperiment, EndExperiment } from './end-dialogs.js';
import { ExperimentFigures } from './experiment-figures.js';
import { ExperimentState } from './experiment-state.js';
import { About } from './experiment-about.js';
import { JudgeResults } from './judge-results.js';
import { ResultList } from './result-list.js';
import { ExperimentTags } from './experiment-tags.js';

/** One experiment: what it tries, its figures and its results. */
export function ExperimentScreen({ id }: { readonly id: string }) {
  const answer = useExperiment(id);
  if (answer.error instanceof ApiError && [404, 422].includes(answer.error.status) && answer.data === undefined)
    return (
      <Empty title="Experiment not found" isPage>
        <p>
          It may have been deleted. <a href={hrefOf({ screen: 'experiments' })}>Show all experiments</a>
        </p>
      </Empty>
    );
  return (
    <Answered answer={answer} isPage>
      {(experiment) => (
        <div class="stack">
          <Head experiment={experiment} />
          {experiment.run?.error != null && (
            <p class="bad" role="status">
              The run stopped: {experiment.run.error}
            </p>
          )}
          {experiment.run?.waiting_reason != null && <p role="status">{experiment.run.waiting_reason}.</p>}
          <About experiment={experiment} />
          <ExperimentFigures experiment={experiment} />
          <JudgeResults experiment={experiment} />
          <ResultList experiment={experiment} />
        </div>
      )}
    </Answered>
  );
}

function Head({ experiment }: { readonly experiment: Experiment }) {
  const [ending, setEnding] = useState<'finish' | 'cancel' | 'delete' | null>(null);
  const { id, name, status } = experiment;
  const runs = status === 'running' || status === 'expired';
  const close = () => setEnding(null);
  return (
    <>
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="experiments" label="Experiments" name={name} />
          <CopyButton text={id} what="Experiment ID" />
        </div>
        <div class="line">
          <CopyAsCurl path={pathOfExperiment(id)} />
          {runs && (
            <>
              <Button icon="check" changes onClick={() => setEnding('finish')}>
                Finish
              </Button>
              <Button look="quiet" icon="close" changes onClick={() => setEnding('cancel')}>
                Cancel
              </Button>
            </>
          )}
          <Button look="quiet" icon="trash" changes onClick={() => setEnding('delete')}>
            Delete
          </Button>
        </div>
      </header>
      <div class="line apart">
        <div class="line">
          <ExperimentState of={experiment} />
          <ExperimentTags experiment={experiment} />
        </div>
        <Comparisons experiment={experiment} />
      </div>
      {ending === 'delete' && <DeleteExperiment experiment={experiment} onClose={close} />}
      {(ending === 'finish' || ending === 'cancel') && (
        <EndExperiment experiment={experiment} how={ending} onClose={close} />
      )}
    </>
  );
}

/** Leads to what it was compared with, and to a comparison with the baseline of its dataset. */
function Comparisons({ experiment: { id, dataset, tags } }: { readonly experiment: Experiment }) {
  const isBaseline = tags.includes(BASELINE);
  const tagged = useTagged(dataset.id, BASELINE) !== undefined && !isBaseline;
  const query: Record<string, string> = isBaseline
    ? { baseline: id }
    : { candidate: id, ...(tagged && { baseline: sideOfTag(BASELINE) }) };
  return (
    <div class="line">
      <a href={hrefOf({ screen: 'comparisons', query: { experiment_id: id } })}>Comparisons</a>
      <a class="button" href={hrefOf({ screen: 'comparisons', id: 'new', query })}>
        <Icon name="diff" /> {tagged ? 'Compare with the baseline' : 'Compare'}
      </a>
    </div>
  );
}
