import { useState } from 'preact/hooks';

interface Action {
  readonly busy: boolean;
  /** Why it failed the last time; null: it did not. */
  readonly failure: unknown;
  /** Does it, unless it is in progress. */
  readonly run: (does: () => Promise<void>) => void;
}

/** Something that a person has done, which takes a while and may fail. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const run = (does: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    setFailure(null);
    does()
      .catch(setFailure)
      .finally(() => setBusy(false));
  };
  return { busy, failure, run };
}
