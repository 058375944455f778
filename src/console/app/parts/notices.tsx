import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { notices } from '../state/announce.js';

/** Regions in which notices may appear, the innermost last: behind a modal dialog nothing is seen or read out. */
const regions = signal<readonly object[]>([]);
/** Browsers read out what comes into a region that is there: one that was behind a dialog has to be back before. */
const BACK_MS = 150;

/** What happened lately, wherever it is read out now: once in the frame, and once in each dialog. */
export function Notices() {
  const own = useMemo(() => ({}), []);
  useLayoutEffect(() => {
    regions.value = [...regions.peek(), own];
    return () => {
      setTimeout(() => (regions.value = regions.peek().filter((other) => other !== own)), BACK_MS);
    };
  }, [own]);
  const shown = regions.value.at(-1) === own ? notices.value : [];
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, bad }) => (
        <p key={id} class={`notice${bad ? ' bad' : ''}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
