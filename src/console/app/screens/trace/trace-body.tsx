import { useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { count } from '../../../model/format.js';
import { markNodes } from '../../../model/trace-marks.js';
import { isModelCall, type TraceOutline } from '../../../model/trace-outline.js';
import { Empty } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { useKeys } from '../../state/keys.js';
import { hrefOf, place, setQuery, sharedBy } from '../../state/location.js';
import { isNarrow } from './narrow.js';
import { Minimap } from './minimap.js';
import { SpanSheet } from './span-sheet.js';
import { Toolbar } from './toolbar.js';
import { TraceTree } from './trace-tree.js';
import { TraceView, type TimeRange } from './trace-view.js';
import { pan, zoomBy } from './zooming.js';

/** While a detail is open it shows the row that keys came to, after a moment. */
const FOLLOWS_AFTER_MS = 150;

export interface SpanDetailProps {
  readonly traceId: string;
  readonly id: string;
  /** Differs when the span has changed, so that it is asked again. */
  readonly state: string;
  readonly onClose: () => void;
}

interface TraceBodyProps {
  readonly id: string;
  readonly outline: TraceOutline;
  /** Shows one span in full. */
  readonly Detail: ComponentType<SpanDetailProps>;
}

/** The tree of a trace's spans, and beside it the one that is chosen. */
export function TraceBody({ id, outline, Detail }: TraceBodyProps) {
  const view = useMemo(() => new TraceView(outline), [id]);
  useLayoutEffect(() => {
    if (view.outline.peek() !== outline) view.grow(outline);
  }, [outline]);
  useAddress(view);
  useFollowing(view);
  useTraceKeys(view);
  if (outline.id.length === 0)
    return <Empty title="This trace has no spans">The trace was created without spans; they may still arrive.</Empty>;
  const selected = view.selected.value;
  const at = selected === null ? -1 : view.spanOf(selected);
  const span = view.outline.value.id[at] ?? null;
  const close = () => {
    view.select(null);
    focusTree();
  };
  // A window that became narrow has no room for what nobody chose.
  const isShown = span !== null && !(isNarrow.value && view.isPreselected.value);
  const detail = isShown && (
    <Detail key={span} traceId={id} id={span} state={stateOf(view.outline.value, at)} onClose={close} />
  );
  return (
    <div class="trace-body">
      {outline.total > outline.id.length && (
        <p class="banner">
          Showing the first {count(outline.id.length)} of {count(outline.total)} spans.{' '}
          {sharedBy === null && (
            <a href={hrefOf({ screen: 'spans', query: { trace_id: id, range: 'all' } })}>Show all in list</a>
          )}
        </p>
      )}
      <Toolbar view={view} />
      <Minimap view={view} />
      <div class={`trace-split${detail === false ? '' : ' with-detail'}`}>
        <TraceTree view={view} label="Trace spans" />
        {detail !== false && (isNarrow.value ? <SpanSheet onClose={close}>{detail}</SpanSheet> : detail)}
      </div>
    </div>
  );
}

/** What changes of a span when it ends or is written again. */
function stateOf({ duration, cost, hasError }: TraceOutline, span: number): string {
  return JSON.stringify([duration[span], cost[span], hasError(span)]);
}

export function focusTree(): void {
  document.querySelector<HTMLElement>('.trace-tree')?.focus({ preventScroll: true });
}

/** The chosen span and the zoom are in the address, and follow it. */
function useAddress(view: TraceView): void {
  const { query } = place.value;
  const [span, zoom] = [query.get('span'), query.get('zoom')];
  const isEmpty = view.tree.value.size === 0;
  // Before anything is painted: a key that comes sooner would be undone.
  useLayoutEffect(() => {
    if (span === null) {
      // On a phone, the detail would cover the trace.
      if (isNarrow.peek()) view.select(null);
      else view.preselect();
      return;
    }
    const node = view.nodeOf(span);
    if (node === null) announce('The trace has no span with the ID in the URL', { bad: true });
    else if (node !== view.selected.peek()) view.reveal(node);
    view.select(node);
  }, [span, isEmpty]);
  useLayoutEffect(() => {
    view.zoom.value = zoomOf(zoom);
  }, [zoom]);
  useSignalEffect(() => {
    const { selected, outline } = { selected: view.selected.value, outline: view.outline.value };
    const isChosen = selected !== null && !view.isPreselected.value;
    const chosen = isChosen ? (outline.id[view.spanOf(selected)] ?? null) : null;
    if (chosen !== place.peek().query.get('span')) setQuery({ span: chosen }, { replace: true });
  });
  useSignalEffect(() => {
    const range = view.zoom.value;
    const written = range === null ? null : `${rounded(range.from)}-${rounded(range.to)}`;
    if (written !== place.peek().query.get('zoom')) setQuery({ zoom: written }, { replace: true });
  });
}

/** Milliseconds after the start of the trace: `120-480.5`. */
function zoomOf(text: string | null): TimeRange | null {
  const [, from, to] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? '') ?? [];
  const range = { from: Number(from ?? NaN), to: Number(to ?? NaN) };
  return range.to > range.from ? range : null;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function useFollowing(view: TraceView): void {
  const timer = useRef(0);
  useSignalEffect(() => {
    const active = view.active.value;
    clearTimeout(timer.current);
    if (view.selected.peek() === null || view.selected.peek() === active || isNarrow.peek()) return;
    timer.current = window.setTimeout(() => {
      if (view.selected.peek() !== null) view.select(active);
    }, FOLLOWS_AFTER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

function useTraceKeys(view: TraceView): void {
  const errors = () => markNodes(view.tree.peek(), (span) => view.outline.peek().hasError(span));
  const calls = () => markNodes(view.tree.peek(), (span) => isModelCall(view.outline.peek(), span));
  const to = (marks: ReturnType<typeof errors>, direction: 1 | -1, none: string) => {
    if (view.revealMarked(marks, direction)) focusTree();
    else announce(none);
  };
  const move = (key: string) => {
    view.press(key, 1);
    focusTree();
  };
  useKeys(
    [
      { keys: 'j', does: 'Next span', run: () => move('j') },
      { keys: 'k', does: 'Previous span', run: () => move('k') },
      { keys: 'Enter', does: 'Open span details', run: () => view.press('Enter', 1) },
      { keys: 'Escape', does: 'Close span', run: () => view.select(null) },
      { keys: 'e', does: 'Next error', run: () => to(errors(), 1, 'No spans with errors') },
      { keys: 'E', does: 'Previous error', run: () => to(errors(), -1, 'No spans with errors') },
      { keys: 'm', does: 'Next model call', run: () => to(calls(), 1, 'No model calls') },
      { keys: 'z', does: 'Zoom to span', run: () => zoomTo(view) },
      { keys: '0', does: 'Reset zoom', run: () => (view.zoom.value = null) },
      { keys: '+', does: 'Zoom in', run: () => zoomBy(view, 0.5) },
      { keys: '-', does: 'Zoom out', run: () => zoomBy(view, 2) },
      { keys: '[', does: 'Earlier', run: () => pan(view, -0.5) },
      { keys: ']', does: 'Later', run: () => pan(view, 0.5) },
      { keys: '/', does: 'Find spans', run: () => document.querySelector<HTMLElement>('#find-spans')?.focus() },
    ],
    [view],
  );
}

function zoomTo(view: TraceView): void {
  const { from, to } = view.timeOf(view.active.peek());
  view.zoom.value = { from, to: Math.max(to, from + 0.001) };
}
