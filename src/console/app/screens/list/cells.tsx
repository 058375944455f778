import type { ComponentChildren } from 'preact';
import { scoreOf, tagOf } from '../../../../engine/traces/model/list/columns.js';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { count, NOTHING, scoreText } from '../../../model/format.js';
import { sideOf, valueOf, type ListRow } from '../../../model/list-columns.js';
import { fieldLabel, listLink, type ListName } from '../../../model/list-query.js';
import { payloadLine } from '../../../model/payload-line.js';
import { Cost, Took, When } from '../../parts/figures.js';
import { Kind, Status } from '../../parts/kind.js';
import { VisibleText } from '../../parts/visible-text.js';
import { hrefOf } from '../../state/location.js';

/** Longer tags and attributes are cut in cells, not in the tooltip; and that, too, has an end. Texts come cut. */
const CELL_TEXT = 800;
const TOOLTIP_TEXT = 4000;

/** The address of what a row shows, which knows the list that it was found in. */
export function hrefOfRow(name: ListName, row: ListRow, query: URLSearchParams): string {
  const list = listLink(name, query);
  if (name === 'spans') return hrefOf({ screen: 'traces', id: textOf(row, 'trace_id'), query: { span: row.id, list } });
  return hrefOf({ screen: name, id: row.id, query: { list } });
}

/** The first cell of a row, which leads to the object. */
export function Lead({ list, row, column }: CellProps) {
  const value = column === 'name' ? nameOf(row) : textOf(row, column);
  return (
    <span class="lead-cell">
      {list.name === 'spans' && typeof row['kind'] === 'string' && <Kind of={row['kind']} />}
      <Text of={value === '' ? NOTHING : value} clip />
    </span>
  );
}

/** What a row is called; a session may have no name, and a name may be empty. */
export function nameOf(row: ListRow): string {
  const name = row['name'];
  return typeof name === 'string' && name.trim() !== '' ? name : row.id;
}

interface CellProps {
  readonly list: ListDefinition;
  readonly row: ListRow;
  readonly column: string;
}

export function Cell({ list, row, column }: CellProps): ComponentChildren {
  const value = valueOf(row, column);
  const type = tagOf(column) === null ? list.fields[column]?.type : 'text';
  if (type === 'status') return <Outcome list={list} row={row} />;
  const text = textOf(row, column);
  if (value === null || value === undefined || text === '') return <Nothing />;
  if (scoreOf(column) !== null && typeof value !== 'object') return <Text of={scoreText(value)} />;
  const side = sideOf(column);
  if (side !== null) return <Text of={payloadLine(text, side)} />;
  switch (type) {
    case 'time':
      return <When at={text} />;
    case 'number':
      return <Took ms={Number(value)} />;
    case 'money':
      return <Cost of={Number(value)} />;
    case 'integer':
      return <Counted row={row} column={column} list={list} value={Number(value)} />;
    case 'kind':
      return <Kind of={text} named />;
    case 'boolean':
      return value === true ? 'yes' : 'no';
    case 'id':
      return <span class="mono">{text}</span>;
    default:
      return <Text of={text} />;
  }
}

const Text = ({ of, clip = false }: { readonly of: string; readonly clip?: boolean }) => (
  <bdi class={clip ? 'clip' : ''}>
    <VisibleText text={of.slice(0, CELL_TEXT)} most={20} />
  </bdi>
);

const Nothing = () => <span class="nothing">{NOTHING}</span>;

/** A trace or span without an end has not ended yet, as far as is known; a length may be known without it. */
function Outcome({ list, row }: Omit<CellProps, 'column'>) {
  const running = list.name !== 'sessions' && row['ended_at'] === null && row['duration_ms'] === null;
  const message = errorOf(row);
  return (
    <Status error={row['has_error'] === true} running={running}>
      {message === '' ? undefined : <Text of={message} clip />}
    </Status>
  );
}

/** What a row says of its error; empty: nothing. */
function errorOf(row: ListRow): string {
  const [said = ''] = ['error_message', 'error_code', 'root_span_error']
    .map((name) => textOf(row, name))
    .filter(Boolean);
  return said.trim();
}

/** Figures of a trace or session that count something lead to the list of that. */
function Counted({ list, row, column, value }: CellProps & { readonly value: number }) {
  const text = count(value);
  const href = value === 0 ? null : countedBy(list.name, row, column);
  if (href === null) return text;
  return (
    <a href={href} aria-label={`${text} ${fieldLabel(column).toLowerCase()}: show list`}>
      {text}
    </a>
  );
}

function countedBy(name: ListName, { id }: ListRow, column: string): string | null {
  const belongs: Record<string, string> = name === 'traces' ? { trace_id: id } : { session_id: id };
  switch (column) {
    case 'span_count':
      return hrefOf({ screen: 'spans', query: belongs });
    case 'error_count':
      return hrefOf({ screen: 'spans', query: { ...belongs, has_error: 'true' } });
    case 'trace_count':
      return hrefOf({ screen: 'traces', query: belongs });
    default:
      return null;
  }
}

/** What the tooltip of a cell says: the whole value, as far as that can be read. */
export function fullText({ list, row, column }: CellProps): string | undefined {
  const value = valueOf(row, column);
  const type = tagOf(column) === null ? list.fields[column]?.type : 'text';
  if (type === 'status' && errorOf(row) !== '') return shortened(errorOf(row));
  // Parts that write a time, a length or a cost have tooltips of their own.
  if (value === null || value === undefined || ['time', 'money', 'number'].includes(type ?? '')) return undefined;
  return shortened(textOf(row, column));
}

function shortened(text: string): string {
  return text.length > TOOLTIP_TEXT ? `${text.slice(0, TOOLTIP_TEXT)}… (${count(text.length)} characters)` : text;
}

function textOf(row: ListRow, column: string): string {
  const value = valueOf(row, column);
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  const isText = Object.values(value).every((one) => typeof one === 'string');
  return isText
    ? Object.entries(value)
        .map(([key, one]) => `${key}: ${String(one)}`)
        .join(', ')
    : JSON.stringify(value);
}
