/** For how long after a call, a read or a commit another one is expected. */
const RECENT_MS = 2_000;
/** Flushes that take this share of the time leave little for work that may wait for hours. */
const BUSY_SHARE = 0.2;
/** Work that someone waits for, too, gives way later: from this share on, and where others write far more than it does itself. */
const FULL = { share: 0.4, rowsPerSecond: 1_000, timesOwn: 4 };

/** How long work rests, for each millisecond that it took, and at least and at most. */
interface Rest {
  readonly times: number;
  readonly leastMs?: number;
  readonly mostMs?: number;
}

/** Every kind of work that rests after each piece of it. */
const RESTS = {
  /** Reads for who follows a list, and looks for judges: a twentieth of a thread. A tenth took 7 % from writes. */
  follow: { times: 19, mostMs: 5_000 },
  /** The words of spans: as much, and no one waits for them: what a large round took is made up for in full. */
  index: { times: 19 },
  /** Rounds of the rollups, while which changes gather: most of the engine's time is left to commits. */
  rollUp: { times: 8, leastMs: 100, mostMs: 2_000 },
  /** Requests of imports. However long one took, an import never stands still. */
  import: { times: 2, mostMs: 2_000 },
  /** Portions of retention and backfills, and pages of a check: half of the time is left. */
  upkeep: { times: 1 },
} as const satisfies Readonly<Record<string, Rest>>;

export type RestingWork = keyof typeof RESTS;

/**
 * How long work rests after a piece of it.
 * @param among how many share the time of this work: each then waits for the rests of the others, too
 */
export function restMs(work: RestingWork, tookMs: number, among = 1): number {
  const { times, leastMs = 0, mostMs = Infinity }: Rest = RESTS[work];
  return Math.min(mostMs, Math.max(leastMs, tookMs * Math.max(1, times / among)));
}

/** Knows what clients make the server do now, or made it do a moment ago: work that may wait asks before it continues. */
export class Governor {
  readonly #now: () => number;
  readonly #calls = { underWay: 0, endedAt: -Infinity };
  readonly #reads = { underWay: 0, endedAt: -Infinity };
  #flushes: { readonly at: number; readonly ms: number; readonly rows: number }[] = [];

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Answers a call of a client. The server's own judges, backfills and imports read and write as well, and are none. */
  async duringCall<T>(call: () => Promise<T> | T): Promise<T> {
    this.#calls.underWay += 1;
    try {
      return await call();
    } finally {
      end(this.#calls, this.#now());
    }
  }

  /** A list begins to be read. @returns what to call once, when that has ended */
  listRead(): () => void {
    this.#reads.underWay += 1;
    return () => end(this.#reads, this.#now());
  }

  /** ClickHouse has taken rows. */
  flushed({ rows, seconds }: { readonly rows: number; readonly seconds: number }): void {
    this.#forget();
    this.#flushes.push({ at: this.#now(), ms: seconds * 1000, rows });
  }

  /** Whether clients are being answered. */
  get clientsCall(): boolean {
    return this.#isRecent(this.#calls);
  }

  /** Whether lists are being read. */
  get listsAreRead(): boolean {
    return this.#isRecent(this.#reads);
  }

  /** Whether anything is written, or lists are read. */
  get storeIsUsed(): boolean {
    return this.listsAreRead || this.#written('rows') > 0;
  }

  /** Whether writing keeps the store busy. */
  get writesAreBusy(): boolean {
    return this.#share >= BUSY_SHARE;
  }

  /** Whether others write at full speed. @param own rows that the asking work wrote itself, in a second */
  othersWriteFast(own: number): boolean {
    const others = this.#written('rows') / (RECENT_MS / 1000) - own;
    return this.#share >= FULL.share && others >= FULL.rowsPerSecond && others >= own * FULL.timesOwn;
  }

  /** The share of the last seconds during which ClickHouse took rows. */
  get #share(): number {
    return this.#written('ms') / RECENT_MS;
  }

  #written(of: 'ms' | 'rows'): number {
    this.#forget();
    return this.#flushes.reduce((total, flush) => total + flush[of], 0);
  }

  #forget(): void {
    const since = this.#now() - RECENT_MS;
    const first = this.#flushes.findIndex(({ at }) => at >= since);
    if (first !== 0) this.#flushes = first === -1 ? [] : this.#flushes.slice(first);
  }

  #isRecent({ underWay, endedAt }: Activity): boolean {
    return underWay > 0 || this.#now() - endedAt < RECENT_MS;
  }
}

interface Activity {
  underWay: number;
  endedAt: number;
}

function end(activity: Activity, at: number): void {
  activity.underWay -= 1;
  activity.endedAt = at;
}
