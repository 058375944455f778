import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { counted } from '../../../model/format.js';
import { listRangeOf, pageQuery, selectionOf } from '../../../model/list-query.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DownloadMenu } from '../../parts/download-menu.js';
import { RangePicker } from '../../parts/range-picker.js';
import { useKeys } from '../../state/keys.js';
import { setQuery } from '../../state/location.js';
import type { TailState } from '../../state/tail.js';
import { AddToDashboardButton } from '../dashboards/add-to-dashboard-button.js';
import { ViewsButton } from '../views/views-button.js';
import { AddSpansButton } from '../datasets/add-spans-button.js';
import { columnLabel } from './columns-dialog.js';
import { DeleteFoundButton } from './delete-found-button.js';

interface ListHeadProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly columns: readonly string[];
  /** How many match; null while it is not known. */
  readonly total: number | null;
  readonly tail: TailState;
  readonly busy: boolean;
  readonly onRefresh: () => void;
  readonly onColumns: () => void;
}

/** The name of a list, its time, and what can be done with it as a whole. */
export function ListHead({ list, query, columns, total, tail, busy, onRefresh, onColumns }: ListHeadProps) {
  return (
    <div class="screen-head">
      <h1>
        {columnLabel(list.name)}{' '}
        <span class="list-total">{total === null ? '' : counted(total, list.name.slice(0, -1))}</span>
      </h1>
      <div class="line">
        <RangePicker range={listRangeOf(query)} />
        {hasTail(list) && <LiveToggle on={isLive(list, query)} state={tail} />}
        <Button icon="refresh" label="Refresh" busy={busy} onClick={onRefresh} />
        <ViewsButton list={list} query={query} columns={columns} />
        <Button icon="columns" onClick={onColumns}>
          Columns
        </Button>
        {list.name === 'spans' && <AddSpansButton spans={{ query: selectionOf(query).toString(), isList: true }} />}
        <AddToDashboardButton list={list} query={query} />
        <DownloadMenu path={`/${list.name}:export`} query={selectionOf(query)} label="Export" />
        <DeleteFoundButton list={list} query={selectionOf(query)} onDeleted={onRefresh} />
        <CopyAsCurl path={`/${list.name}`} query={pageQuery(list, query)} />
      </div>
    </div>
  );
}

/** Sessions have no tail: they change with their traces. */
const hasTail = ({ name }: ListDefinition) => name !== 'sessions';

export function isLive(list: ListDefinition, query: URLSearchParams): boolean {
  return hasTail(list) && query.get('live') === 'true';
}

const SAID: Readonly<Record<TailState, string>> = {
  off: 'Live',
  connecting: 'Live…',
  live: 'Live',
  resting: 'Live, paused',
  waiting: 'Live, reconnecting…',
  failed: 'Live failed',
};

function LiveToggle({ on, state }: { readonly on: boolean; readonly state: TailState }) {
  const toggle = () => setQuery({ live: on ? null : 'true' }, { replace: true });
  useKeys([{ keys: '.', does: 'Live: show new rows as they arrive', run: toggle }], [on]);
  return (
    <Button icon={on ? 'pause' : 'live'} pressed={on} onClick={toggle}>
      {SAID[state]}
    </Button>
  );
}
