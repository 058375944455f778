import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { draftText, readDraft, type Draft } from '../../../model/playground.js';
import { announce } from '../../state/announce.js';
import { place, setQuery } from '../../state/location.js';

/** Longer texts are kept beside the address, in the tab, as any are while they are typed. */
const LONGEST_IN_ADDRESS = 1_500;
const KEPT = 'kept:';
const storeKey = (id: string) => `spanhouse.playground.${id}`;
const SETTLED_MS = 300;

/** The draft that the address has, or that is kept in this tab for it; null: none, or it was written in another tab. */
function draftAt(parameter: string | null): Draft | null {
  if (parameter === null) return null;
  const text = parameter.startsWith(KEPT) ? sessionStorage.getItem(storeKey(parameter.slice(KEPT.length))) : parameter;
  return text === null ? null : readDraft(text);
}

const isLong = (text: string) => encodeURIComponent(text).length > LONGEST_IN_ADDRESS;

/** Keeps a draft in this tab. @returns whether there was room for it */
function keepInTab(id: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(storeKey(id), draftText(draft));
    return true;
  } catch {
    announce('The texts are too long for this browser to store; reloading loses them', { bad: true });
    return false;
  }
}

interface DraftState {
  readonly draft: Draft;
  /** Whether it was changed since it was loaded. */
  readonly isChanged: boolean;
  /** Whether it is too long for the address, so that this tab alone has it. */
  readonly isHereAlone: boolean;
  /** Whether the address names texts that another tab has. */
  readonly isElsewhere: boolean;
  readonly change: (draft: Draft) => void;
  readonly reset: () => void;
}

/**
 * What is written: kept in this tab as soon as it is, and by the address, where it fits, a moment after it was.
 * @param loaded what it began with
 */
export function useDraft(loaded: Draft): DraftState {
  const parameter = place.value.query.get('draft');
  const [written, setWritten] = useState(() => draftAt(parameter));
  const [isHereAlone, setHereAlone] = useState(() => written !== null && isLong(draftText(written)));
  const waiting = useRef<{ readonly id: string; draft: Draft; timer: number } | null>(null);
  const last = useRef(parameter);
  const name = (parameter: string | null) => {
    last.current = parameter;
    setQuery({ draft: parameter }, { replace: true });
  };
  const stop = () => {
    const stopped = waiting.current;
    if (stopped !== null) clearTimeout(stopped.timer);
    waiting.current = null;
    return stopped;
  };
  const settle = () => {
    const settled = stop();
    if (settled === null) return;
    const text = draftText(settled.draft);
    setHereAlone(isLong(text) && keepInTab(settled.id, settled.draft));
    if (isLong(text)) return;
    if (place.value.query.get('draft') !== KEPT + settled.id) {
      // Left while the next screen still loads: the address that was left names the draft.
      keepInTab(settled.id, settled.draft);
      return;
    }
    name(text);
    sessionStorage.removeItem(storeKey(settled.id));
  };
  useEffect(() => {
    // The way back and forth changes the address from outside.
    if (parameter !== last.current && waiting.current === null) setWritten(draftAt(parameter));
    last.current = parameter;
  }, [parameter]);
  // Before the page is painted: what is typed and left at once is kept, too.
  useLayoutEffect(() => {
    addEventListener('pagehide', settle);
    return () => {
      removeEventListener('pagehide', settle);
      // The address is another one by now; the one that was left names the draft.
      const left = stop();
      if (left !== null) keepInTab(left.id, left.draft);
    };
  }, []);
  return {
    draft: written ?? loaded,
    isChanged: written !== null,
    isHereAlone: isHereAlone && written !== null,
    isElsewhere: parameter !== null && written === null,
    change(draft) {
      setWritten(draft);
      const named = last.current?.startsWith(KEPT) === true ? last.current.slice(KEPT.length) : null;
      const id = stop()?.id ?? named ?? crypto.randomUUID().slice(0, 8);
      waiting.current = { id, draft, timer: window.setTimeout(settle, SETTLED_MS) };
      // Named at once: whoever leaves before it settles comes back to it.
      if (named !== id) name(KEPT + id);
    },
    reset() {
      stop();
      setWritten(null);
      name(null);
    },
  };
}
