import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlaygroundInput, PlaygroundRun } from '../../../../features/playground/schema.js';
import { counted, moneyInFull } from '../../../model/format.js';
import { MAX_SHOWN, type Variant } from '../../../model/playground.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { place, setQuery } from '../../state/location.js';

/** A call that was sent: it is in progress, or could not be made. */
export interface SentRun {
  readonly id: number;
  readonly variant: Variant;
  readonly error: unknown;
}

interface Runs {
  readonly sent: readonly SentRun[];
  readonly busy: boolean;
  start(calls: readonly { readonly variant: Variant; readonly input: PlaygroundInput }[]): void;
  /** Ends the calls that are in progress. */
  cancel(): void;
  dismiss(id: number): void;
}

let last = 0;

/** Calls that are made here. Answered ones are named by the address, as `run`, and stored as spans. */
export function useRuns(): Runs {
  const [sent, setSent] = useState<readonly SentRun[]>([]);
  const cancelling = useRef(new AbortController());
  // No one would see the answers.
  useEffect(() => () => cancelling.current.abort(), []);
  const without = (id: number) => setSent((all) => all.filter((one) => one.id !== id));
  const make = async (id: number, variant: Variant, input: PlaygroundInput, signal: AbortSignal) => {
    try {
      const answered = await call('POST /projects/:project_id/playground:run', { body: input, signal });
      if (signal.aborted) return;
      without(id);
      const shown = [...place.value.query.getAll('run'), answered.span_id].slice(-MAX_SHOWN);
      setQuery({ run: shown }, { replace: true });
      announce(spoken(answered), { bad: answered.failure !== null });
    } catch (error) {
      if (signal.aborted) return;
      setSent((all) => all.map((one) => (one.id === id ? { id, variant, error } : one)));
    }
  };
  return {
    sent,
    busy: sent.some(({ error }) => error === null),
    start(calls) {
      const { signal } = cancelling.current;
      const begun = calls.map(({ variant, input }) => ({ id: (last += 1), variant, input }));
      // What could not be made before is tried again.
      setSent(begun.map(({ id, variant }) => ({ id, variant, error: null })));
      for (const { id, variant, input } of begun) void make(id, variant, input, signal);
    },
    cancel() {
      cancelling.current.abort();
      cancelling.current = new AbortController();
      setSent((all) => all.filter(({ error }) => error !== null));
      announce('Canceled. You may be charged for tokens already generated; the calls are stored');
    },
    dismiss: without,
  };
}

function spoken({ model, failure, usage, cost }: PlaygroundRun): string {
  if (failure !== null) return `${model} failed: ${failure.message}`;
  const tokens = usage === null ? 'tokens unknown' : counted(usage.input_tokens + usage.output_tokens, 'token');
  return `${model} responded: ${tokens}, ${cost === null ? 'cost unknown' : moneyInFull(cost)}`;
}
