import { useRef, useState } from 'preact/hooks';
import { place } from './location.js';

/** Longer drafts last until they are left, as a browser has no room for many of them. */
const LONGEST = 500_000;

interface Kept<T> {
  readonly draft: T;
  /** Whether it was written before this was opened, so that it should be said where it comes from. */
  readonly isFromBefore: boolean;
  /** Whether what is edited has changed since the draft was begun. */
  readonly isOutdated: boolean;
  readonly change: (draft: T) => void;
  /** Drops what was written, as after it was saved. @param next what is there now */
  readonly drop: (next?: T) => void;
}

/**
 * What is written and not saved yet, kept in this tab, so that neither a reload nor the way to another screen loses it.
 * @param name what is edited
 * @param saved what it is as saved; JSON alone
 */
export function useKeptDraft<T extends object>(name: string, saved: T): Kept<T> {
  const key = `spanhouse.draft.${place.value.project ?? ''}.${name}`;
  const [found] = useState(() => draftIn<T>(sessionStorage.getItem(key)));
  const [draft, setDraft] = useState(() => (found === null ? saved : fitting(saved, found.draft)));
  const [isFromBefore, setFromBefore] = useState(found !== null);
  const base = useRef(found?.base ?? JSON.stringify(saved));
  return {
    draft,
    isFromBefore,
    isOutdated: isFromBefore && base.current !== JSON.stringify(saved),
    change(next) {
      setDraft(next);
      const isSaved = JSON.stringify(next) === JSON.stringify(saved);
      keep(key, isSaved ? null : JSON.stringify({ base: base.current, draft: next }));
    },
    drop(next = saved) {
      sessionStorage.removeItem(key);
      base.current = JSON.stringify(next);
      setFromBefore(false);
      setDraft(next);
    },
  };
}

function keep(key: string, text: string | null): void {
  try {
    if (text === null || text.length > LONGEST) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // There is no room for it: it lasts until it is left.
  }
}

interface Stored<T> {
  readonly base: string;
  readonly draft: Partial<T>;
}

/** Texts that someone kept may be anything. */
function draftIn<T>(text: string | null): Stored<T> | null {
  try {
    const { base, draft } = JSON.parse(text ?? '{}') as Partial<Stored<T>>;
    return typeof base === 'string' && typeof draft === 'object' && draft !== null ? { base, draft } : null;
  } catch {
    return null;
  }
}

/** The parts of a draft that are still of the kind that they were. */
function fitting<T extends object>(saved: T, draft: Partial<T>): T {
  const isLike = (one: unknown, other: unknown) =>
    typeof one === typeof other && Array.isArray(one) === Array.isArray(other);
  const parts = Object.entries(saved).map(([name, value]: [string, unknown]) => {
    const written = draft[name as keyof T];
    return [name, isLike(written, value) ? written : value] as const;
  });
  return Object.fromEntries(parts) as T;
}
