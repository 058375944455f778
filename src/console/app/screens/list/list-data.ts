import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { fieldsFor, type ListRow } from '../../../model/list-columns.js';
import { isNewestFirst, pageOf, pageQuery, selectionOf, withFields } from '../../../model/list-query.js';
import { NO_LIVE_ROWS, received, released, rowsShown, settled } from '../../../model/live-rows.js';
import { callPage, type ListPage } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';
import { useTail, type TailEvent, type TailState } from '../../state/tail.js';

export interface Asked {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly columns: readonly string[];
}

/** The rows of the page that the address asks for. */
export function usePage({ list, query, columns }: Asked): Answer<ListPage<ListRow>> {
  const asked = pageQuery(list, query, fieldsFor(list, columns));
  return useQuery({
    key: [`/${list.name}`, asked.toString()],
    ask: (signal) => callPage(`GET /${list.name}`, { query: asked, signal }),
  });
}

/** When something is asked for that rows do not wait for. */
export interface When {
  readonly enabled: boolean;
  /** Milliseconds after which it is asked again. */
  readonly every: number | false;
}

/** How many objects match: asked for beside the rows, which do not wait for it. */
export function useTotal({ list, query }: Omit<Asked, 'columns'>, when: When): Answer<number | null> {
  const asked = selectionOf(query);
  asked.set('count', 'true');
  asked.set('limit', '1');
  asked.set('fields', 'id');
  return useQuery({
    key: [`/${list.name}`, 'count', asked.toString()],
    ...when,
    ask: async (signal) => (await callPage(`GET /${list.name}`, { query: asked, signal })).total,
  });
}

export interface LiveList {
  readonly rows: readonly ListRow[];
  readonly waiting: number;
  /** How many at least came too fast to be told one by one, since the page was asked for; infinite: no one counted them. */
  readonly skipped: number;
  readonly state: TailState;
  /** Shows the rows that wait. */
  release(): void;
  /** Forgets what the tail brought, as after a deletion. */
  forget(): void;
}

/** The rows of a page, kept up to date by the list's tail while it is on. New rows come in where no one is disturbed by it. */
export function useLive({ list, query, columns }: Asked, page: Answer<ListPage<ListRow>>, on: boolean): LiveList {
  const [live, setLive] = useState(NO_LIVE_ROWS);
  const [skipped, setSkipped] = useState(0);
  const { data } = page;
  const onPage = useMemo(() => new Set(data?.rows.map(({ id }) => id) ?? []), [data]);
  const newestFirst = isNewestFirst(list, query);
  const { limit } = pageOf(list, query);
  useEffect(() => setLive((before) => settled(before, onPage)), [onPage]);
  // Also where the page is the same as before: what was skipped is on another, then.
  useEffect(() => setSkipped(0), [page.dataUpdatedAt]);
  useEffect(() => setLive(NO_LIVE_ROWS), [pageQuery(list, query).toString()]);
  const onEvent = ({ event, data }: TailEvent) => {
    if (event === 'gap')
      setSkipped((before) => before + ((data as { readonly skipped: number | null }).skipped ?? Infinity));
    if (event !== 'rows') return;
    const atOnce = newestFirst && window.scrollY < 8;
    setLive((before) => received(before, data as readonly ListRow[], { onPage, atOnce, limit }));
  };
  const asked = withFields(selectionOf(query), fieldsFor(list, columns));
  const tail = useTail({ path: `/${list.name}:tail`, query: asked, on, onEvent });
  const isCaughtUp = useCatchUp(page, tail);
  return {
    rows: rowsShown(data?.rows ?? [], live, newestFirst ? list.defaultSort : null, limit),
    waiting: live.waiting.size,
    skipped,
    state: tail === 'live' && !isCaughtUp ? 'connecting' : tail,
    release() {
      setLive(newestFirst ? released : NO_LIVE_ROWS);
      // Where they belong in another order only the server knows.
      if (!newestFirst) void page.refetch();
    },
    forget: () => setLive(NO_LIVE_ROWS),
  };
}

/**
 * A tail tells of what comes from now on: what came since the page was asked for is asked for again.
 * @returns whether that is there, too
 */
function useCatchUp(page: Answer<ListPage<ListRow>>, tail: TailState): boolean {
  const [isCaughtUp, setCaughtUp] = useState(false);
  useEffect(() => {
    // What failed is asked again by itself.
    if (tail !== 'live' || page.isError) return;
    let stale = false;
    const catchUp = async () => {
      // An answer that is still in progress may be older than the tail.
      if (page.data === undefined || page.isPlaceholderData) await page.refetch();
      const { isSuccess } = await page.refetch();
      if (!stale && isSuccess) setCaughtUp(true);
    };
    void catchUp();
    return () => {
      stale = true;
      setCaughtUp(false);
    };
  }, [tail, page.isError]);
  return isCaughtUp;
}
