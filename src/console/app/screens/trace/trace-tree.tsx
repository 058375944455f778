import { useComputed, useSignalEffect } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { counted, duration as writtenDuration } from '../../../model/format.js';
import { lookOf } from '../../../model/kind.js';
import { rowInGrown, type ShownRows } from '../../../model/trace-rows.js';
import { at, ROOT, type TraceTree as Tree } from '../../../model/trace-tree.js';
import { Icon } from '../../parts/icon.js';
import { useRowWindow, type RowWindow } from '../../parts/row-window.js';
import { rowHeight } from '../../state/preferences.js';
import { FIGURES, type FigureColumn } from './figure-columns.js';
import type { TraceView } from './trace-view.js';

/** Deeper rows are indented no further. */
const MAX_INDENT = 24;

/** The spans of a trace: one treegrid with one tab stop, whose rows exist only while they are in view. */
export function TraceTree({ view, label }: { readonly view: TraceView; readonly label: string }): JSX.Element {
  const prefix = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const count = useComputed(() => view.rows.value.count);
  const rowWindow = useRowWindow(scroller, count, true);
  const before = useRef<ShownRows>(null);
  // Signals run this with the next frame, when the rows' height is the new one: earlier the browser would cut the scroll.
  useSignalEffect(() => {
    const [active, now] = [view.active.value, { rows: view.rows.value, ids: view.outline.value.id }];
    const old = before.current;
    before.current = now;
    if (!old || old.ids === now.ids) {
      rowWindow.show(now.rows.rowOf(active));
    } else {
      // The trace has grown: no one moved, so nothing in view does.
      const top = rowWindow.top();
      rowWindow.shift(rowInGrown(old, now, top) - top);
    }
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const rows = view.rows.peek();
    if (!view.press(event.key, rowWindow.page())) return;
    event.preventDefault();
    // Among the same rows it can scroll at once: one rendering for a page, not one for the row and one for its page.
    if (view.rows.peek() === rows) rowWindow.show(rows.rowOf(view.active.peek()));
  };
  const onClick = ({ target }: MouseEvent) => {
    const row = (target as Element).closest<HTMLElement>('[data-node]');
    if (!row) return;
    const node = Number(row.dataset['node']);
    view.active.value = node;
    if ((target as Element).closest('.twist')) view.toggle(node);
    else view.select(node);
  };
  return (
    <div
      ref={scroller}
      class="trace-tree"
      role="treegrid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={useComputed(() => view.rows.value.count + 1)}
      aria-colcount={FIGURES.length + 2}
      aria-activedescendant={useComputed(() => `${prefix}-${view.active.value}`)}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <Head view={view} />
      <TimeScale view={view}>
        <Rows view={view} prefix={prefix} rowWindow={rowWindow} />
      </TimeScale>
    </div>
  );
}

function Head({ view }: { readonly view: TraceView }): JSX.Element {
  const { from, to } = view.zoom.value ?? view.bounds.value;
  const { from: zero } = view.bounds.value;
  return (
    <div class="trace-head-row" role="row" aria-rowindex={1}>
      <span role="columnheader" class="name">
        Name
      </span>
      <span role="columnheader" class="track scale" aria-label="Timeline">
        {[0, 0.25, 0.5, 0.75].map((share) => (
          <span key={share} style={{ left: `${share * 100}%` }}>
            {writtenDuration(from - zero + (to - from) * share)}
          </span>
        ))}
      </span>
      {FIGURES.map(({ title }) => (
        <span key={title} role="columnheader" class="figure">
          {title}
        </span>
      ))}
    </div>
  );
}

interface TimeScaleProps {
  readonly view: TraceView;
  readonly children: ComponentChildren;
}

/** The one element that zooming changes: every bar is placed by its variables. */
function TimeScale({ view, children }: TimeScaleProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    const { from, to } = view.bounds.value;
    const zoom = view.zoom.value ?? { from, to };
    const [whole, part] = [to - from, Math.max(zoom.to - zoom.from, (to - from) * 1e-6)];
    const style = element.current?.style;
    style?.setProperty('height', `${view.rows.value.count * rowHeight.value}px`);
    style?.setProperty('--from', String((zoom.from - from) / whole));
    style?.setProperty('--scale', `${(whole / part) * 100}%`);
  });
  return (
    <div ref={element} class="rows" role="rowgroup">
      {children}
    </div>
  );
}

interface RowsProps {
  readonly view: TraceView;
  readonly prefix: string;
  readonly rowWindow: RowWindow;
}

function Rows({ view, prefix, rowWindow }: RowsProps): JSX.Element {
  const [first, last, rows, height] = [rowWindow.first.value, rowWindow.last.value, view.rows.value, rowHeight.value];
  // The active row stays in the document when it is scrolled away: a screen reader reads it by its id.
  const distant = useComputed(() => {
    const row = view.rows.value.rowOf(view.active.value);
    return row < rowWindow.first.value || row >= rowWindow.last.value ? row : -1;
  }).value;
  const shown = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (distant >= 0) shown.push(distant);
  return (
    <>
      {shown.map((row) => {
        const node = at(rows.nodes, row);
        const expanded = rows.hasChildren(node) ? rows.isExpanded(node) : undefined;
        return (
          <Row
            key={node}
            view={view}
            prefix={prefix}
            tree={rows.tree}
            top={row * height}
            row={row}
            node={node}
            expanded={expanded}
          />
        );
      })}
    </>
  );
}

interface RowProps {
  readonly view: TraceView;
  readonly prefix: string;
  readonly tree: Tree;
  readonly top: number;
  readonly row: number;
  readonly node: number;
  readonly expanded: boolean | undefined;
}

/** Rendered again only when its props differ (signals see to it); being active or selected is written to the DOM alone. */
function Row({ view, prefix, tree, top, row, node, expanded }: RowProps): JSX.Element {
  const outline = view.outline.value;
  const span = at(tree.span, node);
  const depth = at(tree.depth, node);
  const name = outline.names[at(outline.name, span)] ?? '';
  const look = lookOf(outline.kindOf(span));
  const failed = outline.hasError(span);
  const active = useComputed(() => (view.active.value === node ? '' : undefined));
  const selected = useComputed(() => (view.selected.value === node ? 'true' : 'false'));
  const found = useComputed(() => (view.found.value?.[node] === 1 ? '' : undefined));
  return (
    <div
      id={`${prefix}-${node}`}
      role="row"
      class={`row kind-${look}`}
      data-node={node}
      data-active={active}
      data-found={found}
      aria-rowindex={row + 2}
      aria-level={depth + 1}
      aria-setsize={at(tree.siblings, node)}
      aria-posinset={at(tree.position, node)}
      aria-selected={selected}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      style={{ top: `${top}px`, '--depth': Math.min(depth, MAX_INDENT) }}
    >
      <span role="gridcell" class="name" title={name}>
        <span class="twist" aria-hidden="true" />
        <Icon name={look} />
        {failed && (
          <span class="failed" role="img" aria-label="Error" title="Error">
            <Icon name="error" />
          </span>
        )}
        <bdi class="clip">{name}</bdi>
        <Notes view={view} span={span} reason={at(tree.root, node)} />
      </span>
      <span role="gridcell" class="track">
        <Bar view={view} node={node} span={span} failed={failed} />
      </span>
      {FIGURES.map((column) => (
        <Figure key={column.title} column={column} view={view} node={node} />
      ))}
    </div>
  );
}

interface FigureProps {
  readonly column: FigureColumn;
  readonly view: TraceView;
  readonly node: number;
}

function Figure({ column, view, node }: FigureProps): JSX.Element {
  const { text, full, isSum } = column.of(view, node);
  return (
    <span role="gridcell" class={`figure${isSum ? ' sum' : ''}`} title={full}>
      {text}
    </span>
  );
}

interface BarProps {
  readonly view: TraceView;
  readonly node: number;
  readonly span: number;
  readonly failed: boolean;
}

function Bar({ view, node, span, failed }: BarProps): JSX.Element {
  const { start, duration } = view.outline.value;
  const { from, to } = view.bounds.value;
  const whole = to - from;
  const begin = at(start, span);
  const length = duration[span] ?? null;
  const critical = view.path.value.get(node) ?? [];
  return (
    <>
      <span
        class={`bar${failed ? ' failed' : ''}${length === null ? ' open' : ''}`}
        style={{ '--start': (begin - from) / whole, '--length': (length ?? to - begin) / whole }}
      />
      {critical.map((stretch) => (
        <span
          key={stretch.from}
          class="bar critical"
          style={{ '--start': (stretch.from - from) / whole, '--length': (stretch.to - stretch.from) / whole }}
        />
      ))}
    </>
  );
}

interface NotesProps {
  readonly view: TraceView;
  readonly span: number;
  readonly reason: number;
}

/** What is odd about where a span stands, and what judges and people say of it. */
function Notes({ view, span, reason }: NotesProps): JSX.Element | null {
  const { missing, skew, said, duration } = view.outline.value;
  const early = skew.get(span);
  const verdicts = said.get(span);
  return (
    <>
      {reason === ROOT.missingParent && (
        <span class="note" title={`Parent ${missing.get(span) ?? ''} is not stored`}>
          parent missing
        </span>
      )}
      {reason === ROOT.cycle && <span class="note">its own ancestor</span>}
      {early !== undefined && (
        <span class="note" title={`Starts ${writtenDuration(early)} before its parent: clock skew`}>
          {writtenDuration(early)} before its parent
        </span>
      )}
      {duration[span] === null && <span class="note">unfinished</span>}
      {verdicts !== undefined && (
        <span class="said">
          {verdicts.passed > 0 && (
            <Sign icon="check" text={counted(verdicts.passed, 'judge passed', 'judges passed')} />
          )}
          {verdicts.failed > 0 && (
            <Sign icon="close" text={counted(verdicts.failed, 'judge failed', 'judges failed')} />
          )}
          {verdicts.up > 0 && <Sign icon="thumbs-up" text={counted(verdicts.up, 'thumb up', 'thumbs up')} />}
          {verdicts.down > 0 && <Sign icon="thumbs-down" text={counted(verdicts.down, 'thumb down', 'thumbs down')} />}
        </span>
      )}
    </>
  );
}

interface SignProps {
  readonly icon: 'check' | 'close' | 'thumbs-up' | 'thumbs-down';
  readonly text: string;
}

function Sign({ icon, text }: SignProps): JSX.Element {
  const good = icon === 'check' || icon === 'thumbs-up';
  return (
    <span class={good ? 'good' : 'bad'} role="img" aria-label={text} title={text}>
      <Icon name={icon} />
    </span>
  );
}
