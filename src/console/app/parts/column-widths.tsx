import { useRef } from 'preact/hooks';
import { clampWidth } from '../../model/list-columns.js';

/** What a column without a width of its own takes at least. */
const LEAST_OF_THE_REST = 136;

interface ColumnsProps {
  readonly widths: readonly (number | undefined)[];
  /** Widths of the cells before and behind the columns. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** The widths of a table's columns, which the length of no cell changes. */
export function Columns({ widths, before, after }: ColumnsProps) {
  return (
    <colgroup>
      {[...before, ...widths, ...after].map((width, index) => (
        <col key={index} style={{ width: width === undefined ? 'auto' : `${width}px` }} />
      ))}
    </colgroup>
  );
}

/** How wide the table is at least. */
export function leastWidth({ widths, before, after }: ColumnsProps): number {
  return [...before, ...widths, ...after].reduce<number>((sum, width) => sum + (width ?? LEAST_OF_THE_REST), 0);
}

/** The right edge of a column's head, to be dragged; the dialog of columns does the same without dragging. */
export function ColumnEdge({ onResize }: { readonly onResize: (width: number) => void }) {
  const edge = useRef<HTMLSpanElement>(null);
  const start = useRef<{ readonly x: number; readonly width: number } | null>(null);
  return (
    <span
      ref={edge}
      class="column-edge"
      aria-hidden="true"
      onPointerDown={(event) => {
        const head = edge.current?.closest('th');
        if (head == null) return;
        event.preventDefault();
        edge.current?.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width: head.getBoundingClientRect().width };
      }}
      onPointerMove={(event) => {
        if (start.current !== null) onResize(clampWidth(start.current.width + event.clientX - start.current.x));
      }}
      onPointerUp={() => (start.current = null)}
      onPointerCancel={() => (start.current = null)}
    />
  );
}
