import type { RetentionRead } from '../../../../features/projects/http/retention-schema.js';
import { bytes, counted } from '../../../model/format.js';
import { Dialog } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';

interface KeepShorterProps {
  readonly days: number;
  readonly onSave: () => Promise<void>;
  readonly onClose: () => void;
}

/** Says what goes for good before traces are kept for less long. */
export function KeepShorter({ days, onSave, onClose }: KeepShorterProps) {
  const answer = useQuery({
    key: [ofProject(`/retention?days=${days}`)],
    ask: (signal) => call('GET /projects/:project_id/retention', { query: { days }, signal }),
    keep: false,
  });
  return (
    <Dialog title={`Keep traces for ${counted(days, 'day')}?`} onClose={onClose}>
      <Form
        action={`Keep for ${counted(days, 'day')}`}
        look="danger"
        refused={answer.data === undefined ? 'Counting traces to delete' : null}
        onSend={onSave}
        onCancel={onClose}
      >
        <Answered answer={answer} rows={3}>
          {(forecast) => <Forecast {...forecast} />}
        </Answered>
      </Form>
    </Dialog>
  );
}

function Forecast({ before, going, kept, ...look }: RetentionRead) {
  return (
    <>
      {going.traces === 0 ? (
        <p>No traces are that old.</p>
      ) : (
        <p>
          <b>
            {counted(going.traces, 'trace')} with {counted(going.spans, 'span')}
          </b>
          , about {bytes(going.estimated_bytes)}, will be deleted permanently, with scores, evaluations and images:
          everything in {going.traces === 1 ? 'it' : 'them'} is older than <When at={before} />.
        </p>
      )}
      <p>
        Just as old but kept: {counted(kept.tagged.traces, 'trace')} with a <code>keep</code> tag,{' '}
        {counted(kept.with_feedback.traces, 'trace')} with feedback.
      </p>
      <p class="soft">
        <NextLook {...look} />
      </p>
    </>
  );
}

/** When the server removes what is old. */
export function NextLook({
  next_run_at: at,
  clock_ahead_seconds: ahead,
}: Pick<RetentionRead, 'next_run_at' | 'clock_ahead_seconds'>) {
  if (at === null) return <>Automatic deletion is off: RETENTION_INTERVAL_SECONDS is 0.</>;
  return (
    <>
      Next deletion <When at={at} />.
      {ahead > 0 && (
        <>
          {' '}
          Deletion is paused until then: the server clock is ahead by {counted(Math.round(ahead / 86_400), 'day')}, or
          the server was off for that long. An administrator can correct or trust the clock.
        </>
      )}
    </>
  );
}
