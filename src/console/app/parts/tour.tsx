import { useEffect, useRef } from 'preact/hooks';
import { TOUR, type TourStep } from '../../model/tour.js';
import { announce } from '../state/announce.js';
import { hrefOf } from '../state/location.js';
import { tour, tourAsked } from '../state/preferences.js';
import { useTour, type Tour } from '../state/tour.js';
import { Button } from './button.js';
import { DemoCommand } from './demo-command.js';
import { Icon } from './icon.js';

/** What a newcomer does once, ticked off as it is done: shown until all is, and put away before that by whoever likes. */
export function TourShown() {
  const shown = useTour();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (tourAsked.value !== 'now' || shown?.isKnown !== true || heading.current === null) return;
    heading.current.focus();
    tourAsked.value = 'before';
  }, [tourAsked.value, shown?.isKnown]);
  if (shown === undefined) return null;
  const { done, next, isKnown } = shown;
  const putAway = () => {
    tour.value = 'away';
    tourAsked.value = null;
    announce('Tour dismissed. Reopen it from the user menu.');
    document.getElementById('main')?.focus({ preventScroll: true });
  };
  return (
    // It keeps its place free, so that what is below stays where it is.
    <section class={`card stack tour ${isKnown ? '' : 'is-to-come'}`} aria-labelledby="tour">
      <div class="line apart">
        <h2 ref={heading} id="tour" tabIndex={-1}>
          Two-minute tour
        </h2>
        <div class="line">
          <span class="soft" role="status">
            {done.size} of {TOUR.length} done
          </span>
          <Button look="quiet" icon="close" onClick={putAway}>
            Dismiss
          </Button>
        </div>
      </div>
      <ol class="tour-steps">
        {TOUR.map(({ name, label, about }, index) => (
          <li key={name} class={done.has(name) ? 'is-done' : ''} {...(name === next && { 'aria-current': 'step' })}>
            <span class="tour-mark">{done.has(name) ? <Icon name="check" /> : index + 1}</span>
            <div>
              <a href={goalOf(name, shown)}>{label}</a>
              {done.has(name) && <span class="unseen"> (done)</span>}
              <p class="soft">{about}</p>
            </div>
          </li>
        ))}
      </ol>
      {!done.has('prompt') && (
        <details>
          <summary>No traces to send yet? Load demo data</summary>
          <div class="stack">
            <DemoCommand />
          </div>
        </details>
      )}
    </section>
  );
}

/** Where a step is done, with what is there to do it on. */
function goalOf(step: TourStep, { traceId, prompt, judgeId }: Tour): string {
  switch (step) {
    case 'trace':
      return hrefOf({ screen: 'first' });
    case 'open':
      return hrefOf({ screen: 'traces', id: traceId, query: traceId === null ? { range: 'all' } : {} });
    case 'prompt':
      return hrefOf({ screen: 'prompts' });
    case 'feedback':
      return hrefOf({ screen: 'review', query: prompt === null ? {} : { prompt } });
    case 'judge':
      return hrefOf({ screen: 'judges', id: judgeId === null ? 'new' : null });
    case 'correct':
      return hrefOf({ screen: 'judges', id: judgeId, query: judgeId === null ? {} : { tab: 'correct' } });
  }
}
