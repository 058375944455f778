import { useMemo } from 'preact/hooks';
import { joinValues } from '../../../../engine/traces/model/list/comma-values.js';
import { Dialog } from '../../parts/dialog.js';
import { Answered } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { place } from '../../state/location.js';
import { remembered } from '../../state/preferences.js';
import { useQuery } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';
import type { Target } from './data.js';
import { ScoreForm } from './score-form.js';

/** The most that one call answers. */
const MOST = 1_000;

interface ScoreDialogProps {
  readonly target: Target;
  /** What it is called. */
  readonly name: string;
  readonly onClose: () => void;
}

/** Scores something by hand, beginning with the name that was used last. */
export function ScoreDialog({ target, name, onClose }: ScoreDialogProps) {
  const last = useMemo(() => remembered<string>(`score.${place.value.project ?? ''}.${target.type}`, ''), []);
  const definitions = useScoreDefinitions();
  const own = useOwnScores(target);
  return (
    <Dialog title={`Score this ${target.type}`} onClose={onClose}>
      <p class="soft clip">
        <bdi>{name}</bdi>
      </p>
      <Answered answer={definitions} rows={3}>
        {(defined) => (
          <Answered answer={own} rows={3}>
            {(scores) => <ScoreForm target={target} defined={defined} own={scores} last={last} onClose={onClose} />}
          </Answered>
        )}
      </Answered>
    </Dialog>
  );
}

/** What the same person said before, which they replace. */
function useOwnScores({ type, id }: Target) {
  const author = joinValues([whoami.value?.user.name ?? '']);
  const query = { entity_type: type, entity_id: id, source: 'human', author, limit: MOST };
  return useQuery({
    key: ['/scores', query],
    ask: (signal) => call('GET /scores', { query, signal }),
    // What was answered before may have been replaced since.
    keptMs: 0,
  });
}
