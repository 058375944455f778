import { Button } from '../../parts/button.js';
import { announceError } from '../../state/announce.js';
import { changedAt } from '../../state/query.js';

interface CancelJobProps {
  readonly label: string;
  readonly cancel: () => Promise<unknown>;
  /** Key of the list that shows the job. */
  readonly list: string;
}

/** Cancels a job. The button goes with that, so the focus goes to the screen. */
export function CancelJob({ label, cancel, list }: CancelJobProps) {
  const run = async () => {
    await cancel();
    await changedAt(list);
    document.getElementById('main')?.focus({ preventScroll: true });
  };
  return (
    <Button changes icon="close" onClick={() => void run().catch(announceError)}>
      {label}
    </Button>
  );
}
