import { computed, useSignal, type ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { rowHeight } from '../state/preferences.js';

/** Rows come and go by so many at once, so that scrolling by one row seldom renders anything. */
const STEP = 8;

export interface RowWindow {
  /** First row to render and the one after the last; it changes only when other rows are due. */
  readonly first: ReadonlySignal<number>;
  readonly last: ReadonlySignal<number>;
  /** Rows that fit. */
  page(): number;
  /** Scrolls as little as it can until the row is wholly in view. */
  show(row: number): void;
  /** The row at the top of what is in view. */
  top(): number;
  /** Keeps what is seen in its place when so many rows came (or went, below 0) above it. */
  shift(rows: number): void;
}

/** The rows of equal height that are in view of a scroller. @param headed whether a sticky row covers its top */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  count: ReadonlySignal<number>,
  headed = false,
): RowWindow {
  const top = useSignal(0);
  const height = useSignal(800);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const read = () => (top.value = element.scrollTop);
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight - (headed ? rowHeight.peek() : 0);
    });
    observer.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', read);
    };
  }, [headed]);
  return useMemo(() => {
    const step = computed(() => Math.floor(top.value / rowHeight.value / STEP));
    const rows = computed(() => Math.ceil(height.value / rowHeight.value / STEP) + 1);
    const scroll = (to: number) => {
      if (!scroller.current) return;
      scroller.current.scrollTop = to;
      // The event comes with the next frame, the rows are due with this one. Read back: the browser may have cut it.
      top.value = scroller.current.scrollTop;
    };
    return {
      first: computed(() => Math.max(0, Math.min((step.value - 1) * STEP, count.value - rows.value * STEP))),
      last: computed(() => Math.min(count.value, (step.value + rows.value + 1) * STEP)),
      page: () => Math.max(1, Math.floor(height.peek() / rowHeight.peek()) - 1),
      show: (row) => {
        const least = (row + 1) * rowHeight.peek() - height.peek();
        const wanted = Math.max(Math.min(top.peek(), row * rowHeight.peek()), least);
        if (wanted !== top.peek()) scroll(wanted);
      },
      top: () => Math.floor(top.peek() / rowHeight.peek()),
      shift: (by) => {
        if (by !== 0) scroll(top.peek() + by * rowHeight.peek());
      },
    };
  }, [count]);
}
