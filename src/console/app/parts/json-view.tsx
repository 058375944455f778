import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { count as written, counted } from '../../model/format.js';
import { SHOWN, type JsonRow } from '../../model/json-rows.js';
import { useAsked, useDocument, type OpenDocument } from '../state/documents.js';
import { rowHeight } from '../state/preferences.js';
import { copy } from '../state/announce.js';
import { Button } from './button.js';
import { LongText } from './long-text.js';
import { useRowWindow } from './row-window.js';
import { Skeleton } from './states.js';
import { VisibleText } from './visible-text.js';

/** A JSON text, or a value, as a tree; what is no JSON is shown as text. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const document = useDocument({ value });
  return <JsonIn document={document} name="value" label={label} />;
}

interface JsonInProps {
  readonly document: OpenDocument;
  /** Of the value in the document. */
  readonly name: string;
  readonly label: string;
}

/** The same of a document that is open already. */
export function JsonIn({ document, name, label }: JsonInProps) {
  const isJson = useAsked(() => document.ask('json', name), [document, name]);
  const text = useAsked(() => document.ask('text', name), [document, name]);
  if (isJson === undefined || text === undefined) return <Skeleton rows={4} />;
  if (isJson) return <JsonTree key={name} document={document} name={name} label={label} />;
  return text === null ? <p class="soft">Nothing recorded.</p> : <LongText document={document} text={text} />;
}

/** A tree (APG) with one tab stop, whose rows exist while they are in view. */
function JsonTree({ document, name, label }: JsonInProps) {
  const prefix = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const count = useSignal(0);
  const [active, setActive] = useState(0);
  const [changes, setChanges] = useState(0);
  const rowWindow = useRowWindow(scroller, count);
  const [first, last] = [rowWindow.first.value, Math.max(rowWindow.last.value, 40)];
  const shown = useAsked(async () => {
    const [window, activeRow] = await Promise.all([
      document.ask('jsonRows', name, first, last),
      document.ask('jsonRows', name, active, active + 1),
    ]);
    return { from: first, window, activeRow: activeRow.rows[0] };
  }, [document, name, first, last, changes, active]);
  useEffect(() => {
    if (shown !== undefined) count.value = shown.window.count;
  }, [shown]);

  const go = (row: number) => {
    const to = Math.max(0, Math.min(count.peek() - 1, row));
    setActive(to);
    rowWindow.show(to);
  };
  const toggle = async (row: number) => {
    await document.ask('toggle', name, row);
    setChanges((before) => before + 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const open = shown?.activeRow?.open ?? null;
    const row = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: count.peek() - 1 }[event.key];
    if (row !== undefined) go(row);
    else if (event.key === 'PageDown') go(active + rowWindow.page());
    else if (event.key === 'PageUp') go(active - rowWindow.page());
    else if (event.key === 'Enter' || event.key === ' ') void toggle(active);
    else if (event.key === 'ArrowRight' && open === false) void toggle(active);
    else if (event.key === 'ArrowRight') go(open === true ? active + 1 : active);
    else if (event.key === 'ArrowLeft' && open === true) void toggle(active);
    else if (event.key === 'ArrowLeft')
      void Promise.resolve(document.ask('parent', name, active)).then((parent) => go(Math.max(0, parent)));
    else return;
    event.preventDefault();
  };
  const onClick = ({ target }: MouseEvent) => {
    const element = (target as Element).closest<HTMLElement>('[data-row]');
    if (element === null) return;
    const row = Number(element.dataset['row']);
    setActive(row);
    if (element.ariaExpanded !== null) void toggle(row);
  };
  const rows = shown?.window.rows ?? [];
  const isShown = active >= first && active < first + rows.length;
  return (
    <div class="json">
      <div
        ref={scroller}
        class="json-tree"
        role="tree"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={isShown ? `${prefix}-${active}` : undefined}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <div role="presentation" class="json-rows" style={{ height: `${count.value * rowHeight.value}px` }}>
          {rows.map((row, index) => (
            <Row
              key={(shown?.from ?? 0) + index}
              id={`${prefix}-${(shown?.from ?? 0) + index}`}
              place={(shown?.from ?? 0) + index}
              row={row}
              active={(shown?.from ?? 0) + index === active}
            />
          ))}
        </div>
      </div>
      <ActiveValue document={document} name={name} row={active} at={shown?.activeRow} changes={changes} />
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly place: number;
  readonly row: JsonRow;
  readonly active: boolean;
}

function Row({ id, place, row: { key, depth, type, text, length, open, position, siblings }, active }: RowProps) {
  return (
    <div
      id={id}
      role="treeitem"
      class="json-row"
      data-row={place}
      data-active={active ? '' : undefined}
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={active}
      {...(open !== null && { 'aria-expanded': open })}
      style={{ top: `${place * rowHeight.value}px`, '--depth': Math.min(depth, 24) }}
    >
      <span class="twist" aria-hidden="true" />
      {key !== null && (
        <span class={`json-key${type === 'range' ? ' soft' : ''}`}>
          <bdi>
            <VisibleText text={key.slice(0, SHOWN)} />
          </bdi>
          {type !== 'range' && ':'}
        </span>
      )}
      {open !== null || length > 0 || type !== 'string' ? <Value type={type} text={text} length={length} /> : '""'}
    </div>
  );
}

function Value({ type, text, length }: Pick<JsonRow, 'type' | 'text' | 'length'>) {
  if (type === 'range') return null;
  if (type === 'object')
    return <span class="soft">{length === 0 ? '{}' : counted(length, 'property', 'properties')}</span>;
  if (type === 'array') return <span class="soft">{length === 0 ? '[]' : counted(length, 'element')}</span>;
  if (type !== 'string') return <span class={`json-${type}`}>{text}</span>;
  return (
    <span class="json-string">
      “
      <bdi>
        <VisibleText text={text.replace(/\s+/g, ' ')} />
      </bdi>
      {length > text.length && '…'}”{length > text.length && <span class="soft"> {written(length)} characters</span>}
    </span>
  );
}

interface ActiveValueProps {
  readonly document: OpenDocument;
  readonly name: string;
  readonly row: number;
  readonly at: JsonRow | undefined;
  readonly changes: number;
}

/** Path of the active row, its value to copy, and a text that the row is too short for. */
function ActiveValue({ document, name, row, at, changes }: ActiveValueProps) {
  const asked = useAsked(
    async () => (row === 0 ? undefined : { row, ...(await document.ask('jsonValue', name, row)) }),
    [document, name, row, changes],
  );
  if (asked === undefined || row === 0) return null;
  const { path, text } = asked;
  const copyValue = async () => copy(await document.ask('slice', text.name, 0, text.length), 'Value');
  return (
    <>
      <p class="line json-path">
        <code class="clip">
          <bdi>
            <VisibleText text={path} />
          </bdi>
        </code>
        <Button look="quiet" icon="copy" label="Copy value" onClick={() => void copyValue()} />
      </p>
      {asked.row === row && at?.type === 'string' && at.length > 60 && <LongText document={document} text={text} />}
    </>
  );
}
