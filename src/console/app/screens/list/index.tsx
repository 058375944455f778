import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { count, counted } from '../../../model/format.js';
import type { ListRow } from '../../../model/list-columns.js';
import { LISTS, pageOf, pageQuery, withCondition, type ListName } from '../../../model/list-query.js';
import { filterOfScore } from '../../../model/score-draft.js';
import { Button } from '../../parts/button.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { Icon } from '../../parts/icon.js';
import { Pager } from '../../parts/pager.js';
import { Failure, Skeleton } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { changedAt } from '../../state/query.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';
import { suggestFrom } from '../../state/suggest.js';
import { useColumns } from './chosen-columns.js';
import { ColumnsDialog } from './columns-dialog.js';
import { DeleteRows } from './delete-rows.js';
import { FilterByRow } from './filter-by-row.js';
import { useLive, usePage, useTotal } from './list-data.js';
import { ListChart } from './list-chart.js';
import { isLive, ListHead } from './list-head.js';
import { ListRows, Selection } from './list-rows.js';
import { NothingFound } from './nothing-found.js';

const NONE: ReadonlySet<string> = new Set();
const NO_SCORES: readonly ScoreDefinitionRead[] = [];
/** How often figures are asked for again while rows come in by themselves. */
const FOLLOWED_MS = 5000;

/** Traces, spans or sessions: one screen over the three definitions. */
export default function ListScreen() {
  const [list] = useState(() => LISTS[place.value.screen as ListName]);
  const { query } = place.value;
  const chosen = useColumns(list);
  const [overlay, setOverlay] = useState<'columns' | 'delete' | ListRow | null>(null);
  const [selected, setSelected] = useState(NONE);
  const close = () => setOverlay(null);
  const asked = { list, query, columns: chosen.columns };
  const page = usePage(asked);
  const isAnswered = page.data !== undefined || page.error !== null;
  const on = isLive(list, query);
  const beside = { enabled: isAnswered, every: on ? FOLLOWED_MS : false } as const;
  const scores = useScoreDefinitions().data ?? NO_SCORES;
  const total = useTotal(asked, beside).data ?? null;
  const live = useLive(asked, page, on);
  const box = useRef<HTMLDivElement>(null);
  /** What had the focus is gone. */
  const focusRows = () => (box.current?.querySelector('a') ?? document.getElementById('main'))?.focus();
  useEffect(() => setSelected(NONE), [pageQuery(list, query).toString()]);
  const filter = (next: URLSearchParams) => navigate(hrefOf({ screen: list.name, query: next }));
  const refresh = () => {
    void changedAt(`/${list.name}`);
    void changedAt(`/${list.name}:stats`);
  };
  const onFilter = useCallback((row: ListRow) => setOverlay(row), []);
  const rowsChosen = live.rows.filter(({ id }) => selected.has(id));
  const { limit, offset } = pageOf(list, query);
  return (
    <div class="list-screen">
      <ListHead
        list={list}
        query={query}
        columns={chosen.columns}
        total={total}
        tail={live.state}
        busy={page.isFetching && isAnswered}
        onRefresh={refresh}
        onColumns={() => setOverlay('columns')}
      />
      <FilterBar
        list={list}
        query={query}
        onChange={filter}
        suggest={suggestFrom(list, query)}
        scores={scores.map(filterOfScore)}
      />
      {(page.error === null || page.data !== undefined) && (
        <ListChart list={list} query={query} scores={scores} {...beside} />
      )}
      {page.error !== null && <Failure error={page.error} retry={() => void page.refetch()} />}
      <NotCurrent of={page.data?.notCurrent ?? 0} what={list.name.slice(0, -1)} />
      <div ref={box} class="list-rows" aria-busy={page.isFetching}>
        {live.skipped > 0 && (
          <p class="line soft" role="status">
            <Icon name="warning" />{' '}
            {live.skipped === Infinity ? 'Too many rows to count' : `${counted(live.skipped, 'row')} or more`} arrived
            too fast to show individually.
            <Button look="quiet" icon="refresh" onClick={refresh}>
              Refresh
            </Button>
          </p>
        )}
        {live.waiting > 0 && (
          <Button
            look="main pill"
            icon="up"
            onClick={() => {
              live.release();
              scrollTo(0, 0);
              focusRows();
            }}
          >
            {count(live.waiting)} new
          </Button>
        )}
        {page.data === undefined && page.error === null && <Skeleton rows={20} />}
        {page.data !== undefined && live.rows.length === 0 && <NothingFound list={list} query={query} />}
        {live.rows.length > 0 && (
          <>
            <ListRows
              list={list}
              query={query}
              rows={live.rows}
              chosen={chosen}
              scores={scores}
              selected={selected}
              onSelect={setSelected}
              onFilter={onFilter}
            />
            <Pager offset={offset} limit={limit} shown={live.rows.length} total={total} />
            <Selection
              list={list}
              count={rowsChosen.length}
              onDelete={() => setOverlay('delete')}
              onNone={() => {
                setSelected(NONE);
                focusRows();
              }}
            />
          </>
        )}
      </div>
      {overlay === 'columns' && <ColumnsDialog list={list} chosen={chosen} scores={scores} onClose={close} />}
      {overlay === 'delete' && (
        <DeleteRows
          list={list}
          rows={rowsChosen}
          onClose={close}
          onDeleted={(failed) => {
            live.forget();
            setSelected(new Set(failed));
            refresh();
            if (failed.length === 0) focusRows();
          }}
        />
      )}
      {overlay !== null && typeof overlay === 'object' && (
        <FilterByRow
          list={list}
          row={overlay}
          columns={chosen.columns}
          onClose={close}
          onChoose={(condition) => {
            filter(withCondition(list, query, condition));
            announce(`Filtered by: ${condition.words} ${condition.value}`);
          }}
        />
      )}
    </div>
  );
}

/** Some objects are too large to be brought up to date: figures of theirs may lack recent writes. */
function NotCurrent({ of, what }: { readonly of: number; readonly what: string }) {
  if (of === 0) return null;
  return (
    <p class="line soft">
      <Icon name="warning" /> {counted(of, what)} in this project may not show recent writes: too large to update
      immediately.
    </p>
  );
}
