import { useEffect, useMemo } from 'preact/hooks';
import { count, counted } from '../../../model/format.js';
import { countMarks, findSpans, markNodes, placeAmongMarks, type Marks } from '../../../model/trace-marks.js';
import { Button } from '../../parts/button.js';
import { place, setQuery } from '../../state/location.js';
import type { TraceView } from './trace-view.js';
import { pan, zoomBy } from './zooming.js';

/** What can be done with the tree as a whole: find, go to errors, fold, zoom. */
export function Toolbar({ view }: { readonly view: TraceView }) {
  const outline = view.outline.value;
  const errors = useMemo(() => markNodes(view.tree.value, outline.hasError), [outline]);
  return (
    <div class="line apart trace-tools" role="group" aria-label="Span tree">
      <div class="line">
        <Find view={view} />
        {countMarks(errors) > 0 && (
          <Button icon="error" more={{ title: 'Next error (e)' }} onClick={() => view.revealMarked(errors, 1)}>
            {counted(countMarks(errors), 'error')}
          </Button>
        )}
        <Oddities view={view} />
      </div>
      <div class="line">
        <Button
          pressed={view.pathShown.value}
          more={{ title: 'The spans that determined the total duration' }}
          onClick={() => (view.pathShown.value = !view.pathShown.value)}
        >
          Critical path
        </Button>
        <Button icon="collapse" label="Collapse all" onClick={() => view.collapseAll()} />
        <Button icon="expand" label="Expand all" onClick={() => view.expandAll()} />
        <Button icon="left" label="Earlier ([)" onClick={() => pan(view, -0.5)} />
        <Button icon="zoom-out" label="Zoom out (-)" onClick={() => zoomBy(view, 2)} />
        <Button icon="zoom-in" label="Zoom in (+)" onClick={() => zoomBy(view, 0.5)} />
        <Button icon="right" label="Later (])" onClick={() => pan(view, 0.5)} />
        {view.zoom.value !== null && (
          <Button more={{ title: 'Reset zoom (0)' }} onClick={() => (view.zoom.value = null)}>
            Whole trace
          </Button>
        )}
      </div>
    </div>
  );
}

function Find({ view }: { readonly view: TraceView }) {
  const text = place.value.query.get('find') ?? '';
  const outline = view.outline.value;
  const marks = useMemo<Marks | null>(
    () => (text === '' ? null : findSpans(view.tree.peek(), outline, text)),
    [text, outline],
  );
  useEffect(() => {
    view.found.value = marks;
  }, [marks]);
  const go = (direction: 1 | -1) => marks !== null && view.revealMarked(marks, direction);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      setQuery({ find: null }, { replace: true });
      document.querySelector<HTMLElement>('.trace-tree')?.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  };
  return (
    <div class="line" role="search">
      <input
        id="find-spans"
        class="input"
        type="search"
        aria-label="Find spans by name, model or ID"
        placeholder="Find spans (/)"
        autocomplete="off"
        value={text}
        onInput={(event) => setQuery({ find: event.currentTarget.value || null }, { replace: true })}
        onKeyDown={onKeyDown}
      />
      {marks !== null && (
        <>
          <span class="soft" role="status">
            <FoundPlace view={view} marks={marks} />
          </span>
          <Button icon="up" look="quiet" label="Previous match" onClick={() => go(-1)} />
          <Button icon="down" look="quiet" label="Next match" onClick={() => go(1)} />
        </>
      )}
    </div>
  );
}

function FoundPlace({ view, marks }: { readonly view: TraceView; readonly marks: Marks }) {
  const all = countMarks(marks);
  const active = view.active.value;
  if (all === 0) return <>none</>;
  return (
    <>
      {marks[active] === 1
        ? `${count(placeAmongMarks(marks, active))} of ${count(all)}`
        : counted(all, 'match', 'matches')}
    </>
  );
}

/** What is odd in the trace, with a way to each. */
function Oddities({ view }: { readonly view: TraceView }) {
  const { missing, skew } = view.outline.value;
  const to = (spans: ReadonlyMap<number, unknown>) => () =>
    view.revealMarked(
      markNodes(view.tree.peek(), (span) => spans.has(span)),
      1,
    );
  return (
    <>
      {missing.size > 0 && (
        <Button look="quiet" icon="warning" more={{ title: 'Next span with a missing parent' }} onClick={to(missing)}>
          {counted(missing.size, 'missing parent')}
        </Button>
      )}
      {skew.size > 0 && (
        <Button
          look="quiet"
          icon="clock"
          more={{ title: 'Next span that starts before its parent' }}
          onClick={to(skew)}
        >
          {counted(skew.size, 'clock skew')}
        </Button>
      )}
    </>
  );
}
