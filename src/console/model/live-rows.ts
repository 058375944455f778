import type { ListRow } from './list-columns.js';

/** What a tail brought beside the page that was asked for. */
export interface LiveRows {
  /** Rows that are shown although the page does not have them, or not as they are now. */
  readonly shown: ReadonlyMap<string, ListRow>;
  /** New rows that wait until someone wants them. */
  readonly waiting: ReadonlyMap<string, ListRow>;
}

export const NO_LIVE_ROWS: LiveRows = { shown: new Map(), waiting: new Map() };

/** So many wait at most; of more, the oldest go, and are found in the list. */
export const MAX_WAITING = 1000;

interface Receiving {
  /** Ids of the rows of the page. */
  readonly onPage: ReadonlySet<string>;
  /** Whether new rows are shown at once. */
  readonly atOnce: boolean;
  /** How many rows a page has. */
  readonly limit: number;
}

/** What is shown is brought up to date where it stands; only what is new may wait. */
export function received(live: LiveRows, rows: readonly ListRow[], { onPage, atOnce, limit }: Receiving): LiveRows {
  const [shown, waiting] = [new Map(live.shown), new Map(live.waiting)];
  for (const row of rows) {
    const target = atOnce || onPage.has(row.id) || shown.has(row.id) ? shown : waiting;
    target.delete(row.id);
    target.set(row.id, row);
  }
  for (const id of shown.keys()) if (shown.size > limit && !onPage.has(id)) shown.delete(id);
  for (const id of waiting.keys()) if (waiting.size > MAX_WAITING) waiting.delete(id);
  return { shown, waiting };
}

/** The rows that waited are shown, too. */
export function released({ shown, waiting }: LiveRows): LiveRows {
  return { shown: new Map([...shown, ...waiting]), waiting: new Map() };
}

/** After the page was asked for again: what it has is newer than what the tail brought before. */
export function settled(live: LiveRows, onPage: ReadonlySet<string>): LiveRows {
  const left = (rows: ReadonlyMap<string, ListRow>) => new Map([...rows].filter(([id]) => !onPage.has(id)));
  return { shown: left(live.shown), waiting: left(live.waiting) };
}

/** The page with what the tail brought, the newest first where that is its order. */
export function rowsShown(page: readonly ListRow[], live: LiveRows, newestBy: string | null, limit: number): ListRow[] {
  const onPage = new Set(page.map(({ id }) => id));
  const rows = page.map((row) => live.shown.get(row.id) ?? row);
  if (newestBy === null) return rows;
  const fresh = [...live.shown.values()].filter(({ id }) => !onPage.has(id));
  if (fresh.length === 0) return rows;
  const time = (row: ListRow) => row[newestBy] as string;
  return [...fresh.reverse(), ...rows]
    .sort((a, b) => (time(a) < time(b) ? 1 : time(a) > time(b) ? -1 : 0))
    .slice(0, limit);
}
