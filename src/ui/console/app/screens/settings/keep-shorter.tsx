import type { RetentionRead } from '../../../../../transport/http/routes/projects/retention-schema.js';
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
  const path = ofProject(`/retention?days=${days}`);
  const answer = useQuery({ key: [path], ask: (signal) => call<RetentionRead>(path, { signal }), keep: false });
  return (
    <Dialog title={`Keep traces for ${counted(days, 'day')}?`} onClose={onClose}>
      <Form
        action={`Keep for ${counted(days, 'day')}`}
        look="danger"
        refused={answer.data === undefined ? 'What would go is being counted' : null}
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
        <p>No trace is as old now.</p>
      ) : (
        <p>
          <b>
            {counted(going.traces, 'trace')} with {counted(going.spans, 'span')}
          </b>
          , about {bytes(going.estimated_bytes)}, {going.traces === 1 ? 'goes' : 'go'} for good, with evaluations and
          images: nothing in them is newer than <When at={before} />.
        </p>
      )}
      <p>
        As old, and kept: {counted(kept.tagged.traces, 'trace')} by a tag <code>keep</code>,{' '}
        {counted(kept.with_feedback.traces, 'trace')} by feedback.
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
  if (at === null) return <>The server does not look by itself: its setting RETENTION_INTERVAL_SECONDS is 0.</>;
  return (
    <>
      The server looks next <When at={at} />.
      {ahead > 0 && (
        <>
          {' '}
          Until then nothing goes: its clock is ahead by {counted(Math.round(ahead / 86_400), 'day')}, or it was off for
          so long. Who runs the server can set the clock or trust it.
        </>
      )}
    </>
  );
}
