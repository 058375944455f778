import { useRef, useState } from 'preact/hooks';
import { NO_OPINION, opinionsIn, said, type Opinion, type Opinions } from '../../../model/review.js';
import { place } from '../../state/location.js';

interface Kept {
  readonly opinions: Opinions;
  /** What was entered up to now, also what is not shown yet: keys come faster than frames. */
  readonly now: (id: string) => Opinion;
  readonly say: (id: string, change: Partial<Opinion>) => void;
}

/** Opinions as they are entered, kept by the browser while its tab is open, so that a reload loses none. */
export function useOpinions(name: string): Kept {
  const key = `spanhouse.review.${place.value.project ?? ''}.${name}`;
  const [opinions, show] = useState<Opinions>(() => opinionsIn(sessionStorage.getItem(key)));
  const latest = useRef(opinions);
  return {
    opinions,
    now: (id) => latest.current[id] ?? NO_OPINION,
    say(id, change) {
      latest.current = said(latest.current, id, change);
      show(latest.current);
      try {
        // At once: the page may be left before the next frame.
        sessionStorage.setItem(key, JSON.stringify(latest.current));
      } catch {
        // There is no room for so much: it lasts until the page is left.
      }
    },
  };
}
