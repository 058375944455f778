import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count } from '../../../model/format.js';
import { NO_OPINION, type Opinion } from '../../../model/review.js';
import { Button } from '../../parts/button.js';
import { SpanLink } from '../../parts/span-link.js';
import { Empty, Failure } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { useKeys } from '../../state/keys.js';
import { place, setQuery } from '../../state/location.js';
import { OpinionForm, type OpinionWords } from './opinion-form.js';
import { SpanConversation } from './span-conversation.js';
import { useOpinions } from './opinions.js';

/** One completion or verdict to be looked at. */
export interface Step {
  readonly spanId: string;
  /** Null: not known. */
  readonly traceId: string | null;
}

interface StepsProps<T extends Step> {
  /** What is gone through, as the browser keeps opinions on it. */
  readonly name: string;
  readonly steps: readonly T[];
  /** How many there are in all, with those of later pages. */
  readonly total: number;
  /** How many pages before were gone through. */
  readonly before: number;
  readonly words: OpinionWords;
  /** Sends an opinion. @returns what changed by it, in words */
  readonly store: (step: T, opinion: Opinion) => Promise<string>;
  /** Has the next page shown. @param left how many of this one were not spoken of */
  readonly onMore: (left: number) => void;
  /** What stands above the form. */
  readonly children: (step: T) => ComponentChildren;
}

const END = 'end';

/** Goes through spans one by one: the conversation, and beside it what is said of it. */
export function Steps<T extends Step>(props: StepsProps<T>) {
  const { name, steps, total, before, words, store, onMore, children } = props;
  const { opinions, now, say } = useOpinions(name);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [changed, setChanged] = useState<string | null>(null);
  const [lastStored, setLastStored] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const chosen = place.value.query.get('at');
  const at =
    chosen === END
      ? steps.length
      : Math.max(
          0,
          steps.findIndex(({ spanId }) => spanId === chosen),
        );
  const step = steps[at];
  const opinion = step === undefined ? NO_OPINION : (opinions[step.spanId] ?? NO_OPINION);
  const go = (to: number) => {
    setFailure(null);
    setQuery({ at: steps[to]?.spanId ?? (to < 0 ? (steps[0]?.spanId ?? null) : END) }, { replace: true });
    // At once: a key that comes before the next frame is none of the field that was left.
    heading.current?.focus({ preventScroll: true });
    requestAnimationFrame(() => heading.current?.scrollIntoView({ block: 'nearest' }));
  };
  const send = async () => {
    if (step === undefined || busy) return;
    const opinion = now(step.spanId);
    if (opinion.good === null) {
      go(at + 1);
      return;
    }
    setBusy(true);
    setFailure(null);
    try {
      const words = await store(step, opinion);
      say(step.spanId, { stored: true });
      setLastStored(step.spanId);
      setChanged(words);
      announce(words);
      go(at + 1);
    } catch (error) {
      setFailure(error);
      announce('Not saved', { bad: true });
    }
    setBusy(false);
  };
  const undo = () => {
    const index = steps.findIndex(({ spanId }) => spanId === lastStored);
    if (index >= 0) go(index);
  };
  const choose = (good: boolean) => {
    if (step === undefined) return;
    say(step.spanId, { good });
    // Enter is to store it, and not to press what had the focus.
    heading.current?.focus({ preventScroll: true });
  };
  useReviewKeys(words, {
    choose,
    send: () => void send(),
    next: () => step !== undefined && go(at + 1),
    previous: () => go(at - 1),
    why: () => form.current?.querySelector('textarea')?.focus(),
    undo,
  });
  useEffect(() => setChanged(null), [name]);
  const spoken = steps.filter(({ spanId }) => opinions[spanId]?.stored === true).length;
  return (
    <div class="stack">
      <div class="line apart">
        <h2 ref={heading} tabIndex={-1}>
          {step === undefined ? 'Done' : `${count(before + at + 1)} of ${count(before + total)}`}
        </h2>
        <div class="line">
          <span class="soft">{count(spoken)} reviewed</span>
          <Button
            icon="left"
            label="Previous"
            refused={at === 0 ? 'This is the first' : null}
            onClick={() => go(at - 1)}
          />
          <Button
            icon="right"
            label="Skip"
            refused={step === undefined ? 'This is the last' : null}
            onClick={() => go(at + 1)}
          />
        </div>
      </div>
      {changed !== null && (
        <p class="changed line">
          {changed}
          {lastStored !== null && (
            <Button look="quiet" onClick={undo}>
              Edit <kbd>u</kbd>
            </Button>
          )}
        </p>
      )}
      {step === undefined ? (
        <Through
          left={steps.length - spoken}
          more={total > steps.length}
          onMore={() => onMore(steps.length - spoken)}
          onFirst={() => go(0)}
        />
      ) : (
        <div class="review">
          <SpanConversation key={step.spanId} id={step.spanId} />
          <section class="stack review-form" aria-label="Your feedback">
            {children(step)}
            <OpinionForm
              form={form}
              words={words}
              opinion={opinion}
              busy={busy}
              onChange={(change) => say(step.spanId, change)}
              onSend={() => void send()}
            />
            {failure !== null && <Failure error={failure} />}
            <p class="small">
              <SpanLink id={step.spanId} traceId={step.traceId}>
                Open span in trace
              </SpanLink>
            </p>
          </section>
        </div>
      )}
    </div>
  );
}

interface ReviewActions {
  readonly choose: (good: boolean) => void;
  readonly send: () => void;
  readonly next: () => void;
  readonly previous: () => void;
  readonly why: () => void;
  readonly undo: () => void;
}

/** The keys of a review: they act on what is shown at that moment, however fast they come. */
function useReviewKeys({ good, bad }: OpinionWords, actions: ReviewActions): void {
  const now = useRef(actions);
  now.current = actions;
  useKeys(
    [
      { keys: '+', does: good, run: () => now.current.choose(true) },
      { keys: '=', does: good, run: () => now.current.choose(true) },
      { keys: '-', does: bad, run: () => now.current.choose(false) },
      { keys: 'Enter', does: 'Save and next', run: () => now.current.send() },
      { keys: 'mod+enter', does: 'Save and next, from a field', run: () => now.current.send() },
      { keys: 'ArrowRight', does: 'Next', run: () => now.current.next() },
      { keys: 'ArrowLeft', does: 'Previous', run: () => now.current.previous() },
      { keys: 'r', does: 'Enter a reason', run: () => now.current.why() },
      { keys: 'u', does: 'Edit the last saved feedback', run: () => now.current.undo() },
    ],
    [good, bad],
  );
}

interface ThroughProps {
  readonly left: number;
  /** Whether there is a further page. */
  readonly more: boolean;
  readonly onMore: () => void;
  readonly onFirst: () => void;
}

function Through({ left, more, onMore, onFirst }: ThroughProps) {
  return (
    <Empty title={left === 0 ? 'All reviewed' : `${count(left)} not reviewed`}>
      <div class="line">
        {more && (
          <Button look="main" onClick={onMore}>
            Show next page
          </Button>
        )}
        <Button onClick={onFirst}>Start over</Button>
      </div>
    </Empty>
  );
}
