import { useState } from 'preact/hooks';
import { BASELINE, type Experiment } from '../../../model/experiments.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Ending } from '../../parts/ending.js';
import { Form } from '../../parts/form.js';
import { TagField } from '../../parts/tag-field.js';
import { Icon } from '../../parts/icon.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { mayChange } from '../../state/session.js';
import { experimentsChanged, pathOfExperiment, useExperiments } from './data.js';

/** Tags that point to an experiment, which are pinned and removed here. */
export function ExperimentTags({ experiment }: { readonly experiment: Experiment }) {
  const [pinning, setPinning] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  return (
    <>
      {experiment.tags.map((tag) => (
        <span key={tag} class="badge good">
          <Icon name="tag" /> {tag}
          {mayChange() && (
            <Button look="quiet" icon="close" changes label={`Remove tag ${tag}`} onClick={() => setRemoving(tag)} />
          )}
        </span>
      ))}
      <Button look="quiet" icon="pin" changes onClick={() => setPinning(true)}>
        Pin tag
      </Button>
      {pinning && <PinTag experiment={experiment} onClose={() => setPinning(false)} />}
      {removing !== null && (
        <Ending
          title={`Remove tag ${removing}?`}
          action={`Remove ${removing}`}
          path={pathOfExperiment(experiment.id, `/tags/${removing}`)}
          done={`Tag ${removing} removed`}
          onDone={experimentsChanged}
          onClose={() => setRemoving(null)}
        >
          <p>
            It points to <bdi>{experiment.name}</bdi>. Comparisons that ask for the tag will get 404. You can pin it
            again.
          </p>
        </Ending>
      )}
    </>
  );
}

interface PinTagProps {
  readonly experiment: Experiment;
  readonly onClose: () => void;
}

/** Points a tag, or a new one, to the experiment. */
function PinTag({ experiment: { id, name, dataset, tags }, onClose }: PinTagProps) {
  const [tag, setTag] = useState(tags.includes(BASELINE) ? '' : BASELINE);
  const isTag = /^[\w.-]{1,64}$/.test(tag);
  const asked = { dataset: dataset.id, limit: 1, ...(isTag && { tag }) };
  const pointed = useExperiments(asked).data?.experiments.find((other) => isTag && other.tags.includes(tag));
  const pin = async () => {
    await call('POST /projects/:project_id/experiments/:experiment_id/tags/:tag:pin', {
      params: { experiment_id: id, tag },
    });
    announce(`Tag ${tag} now points to ${name}`);
    await experimentsChanged();
    onClose();
  };
  const refused = tag === '' ? 'Enter a tag' : tags.includes(tag) ? `${tag} already points to this experiment` : null;
  return (
    <Dialog title="Pin a tag to this experiment" onClose={onClose}>
      <Form action="Pin tag" icon="pin" refused={refused} onSend={pin} onCancel={onClose}>
        <TagField
          hint={`A tag points to one experiment of a dataset. Others are compared with that called ${BASELINE}.`}
          tag={tag}
          autofocus
          onInput={setTag}
        />
        {pointed !== undefined && pointed.id !== id && (
          <p>
            {tag} points to <bdi>{pointed.name}</bdi> now, and moves.
          </p>
        )}
      </Form>
    </Dialog>
  );
}
