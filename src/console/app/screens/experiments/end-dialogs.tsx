import { count, counted } from '../../../model/format.js';
import { resultsDue, type Experiment } from '../../../model/experiments.js';
import { Confirm } from '../../parts/dialog.js';
import { Ending } from '../../parts/ending.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { leaveDeleted } from '../../state/deleted.js';
import { EXPERIMENTS, experimentsChanged, pathOfExperiment } from './data.js';

interface EndProps {
  readonly experiment: Experiment;
  readonly onClose: () => void;
}

const WORDS = {
  finish: { title: 'Finish this experiment?', action: 'Finish experiment', done: 'Experiment finished' },
  cancel: { title: 'Cancel this experiment?', action: 'Cancel experiment', done: 'Experiment canceled' },
} as const;

/** Says what an experiment lacks, and ends it. */
export function EndExperiment({ experiment, how, onClose }: EndProps & { readonly how: keyof typeof WORDS }) {
  const { busy, failure, run } = useAction();
  const { id, figures } = experiment;
  const due = resultsDue(experiment);
  const end = async () => {
    await call(`POST /projects/:project_id/experiments/:experiment_id:${how}`, { params: { experiment_id: id } });
    announce(WORDS[how].done);
    await experimentsChanged();
    onClose();
  };
  return (
    <Confirm {...WORDS[how]} busy={busy} onConfirm={() => run(end)} onClose={onClose}>
      <p>
        It has {count(figures.results)} of {counted(due, 'result')}, and takes no more from then on. Its results stay,
        and can still be scored. {how === 'cancel' && 'Only finished experiments can be compared. '}
        {how === 'finish' && figures.results < due && 'A comparison leaves out rows without a result. '}
        This cannot be undone.
      </p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}

/** Deletes an experiment, naming what goes with it, and leads to the list. */
export function DeleteExperiment({ experiment: { id, name, figures, tags }, onClose }: EndProps) {
  const gone = () => leaveDeleted({ id, to: { screen: 'experiments' }, changed: [EXPERIMENTS] });
  return (
    <Ending
      title="Delete this experiment?"
      action="Delete experiment"
      path={pathOfExperiment(id)}
      done={`Experiment ${name} deleted`}
      onDone={gone}
      onClose={onClose}
    >
      <p>
        <bdi>{name}</bdi> is deleted with {counted(figures.results, 'result')}, their scores and feedback, and its
        comparisons{tags.length > 0 && `, and its tags: ${tags.join(', ')}`}. The traces in which results were made
        stay. This cannot be undone.
      </p>
    </Ending>
  );
}
