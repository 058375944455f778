import { DomainError } from '../../../errors.js';
import { FairSemaphore } from '../../../work/fair-semaphore.js';
import { OpenCount } from '../../../work/open-count.js';
import { restMs } from '../../../work/governor.js';
import type { ListQuery } from './query.js';
import { selectionOf } from './selection.js';

/** Lists that can be followed. */
export type Tailed = 'spans' | 'traces';

/** A state of a project: what was written after one is what came since. */
export type State = number;

export interface TailOf {
  readonly projectId: string;
  readonly list: Tailed;
  /** Order and window of it mean nothing. */
  readonly query: ListQuery;
}

/** What came between two states. */
export interface TailNews {
  /** JSON objects as the list has them, the newest first. */
  readonly rows: readonly string[];
  /** Further ones that match; null: no one counted them. */
  readonly skipped: number | null;
  /** The state that it was read at. */
  readonly state: State;
}

export interface TailSource {
  /** The state with everything that is committed. @throws DomainError `unavailable` */
  now(): State;
  /** The state at a time, so many milliseconds ago. */
  ago(ms: number): State;
  /** Calls back after each commit to a project, until the function that it returns is called. */
  onCommit(projectId: string, listener: () => void): () => void;
  /** What matches and was written after a state, as it is now. @throws DomainError `unavailable` */
  read(tail: TailOf, after: State): Promise<TailNews>;
}

/** Of one tail, or of several with the same query. */
const READ_EVERY_MS = 500;
/** How far back a tail that was interrupted may begin. */
const LOOK_BACK_MS = 600_000;
export const TAILS_PER_PROJECT = 20;
/** Reads at once, with those that rest: tails are many, and everyone waits for what they take from writes and lists. */
const READS = { atOnce: 6, perParty: 1 };

/**
 * Follows lists: a reader gets what is written after the state that it has seen. A project that no one follows costs
 * nothing; one that is followed is read after commits only, and each query at most twice a second.
 */
export class Tails {
  readonly #source: TailSource;
  readonly #groups = new Map<string, Group>();
  readonly #count = new OpenCount({ perParty: TAILS_PER_PROJECT });
  readonly #open = new Set<Tail>();
  readonly #turns = new FairSemaphore('tail reads', READS);
  #closed = false;

  constructor(source: TailSource) {
    this.#source = source;
  }

  /**
   * @param after the state from which on news are wanted, as far as that is not too long ago; null: from now on
   * @throws DomainError `overloaded` when the project has too many; `unavailable`
   */
  open(of: TailOf, after: State | null): Tail {
    if (this.#closed) throw new DomainError('unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
    const now = this.#source.now();
    const close = this.#count.open(of.projectId);
    if (close === undefined)
      throw new DomainError('overloaded', `A project can have at most ${TAILS_PER_PROJECT} open tails: close one`, {
        retryAfterSeconds: 5,
      });
    const from = after === null ? now : Math.min(now, Math.max(after, this.#source.ago(LOOK_BACK_MS)));
    const group = this.#groupOf(of);
    const tail = new Tail(group, from, after !== null && after < from, () => {
      this.#open.delete(tail);
      close();
    });
    this.#open.add(tail);
    return tail;
  }

  /** Ends all tails; none is opened anymore. */
  close(): void {
    this.#closed = true;
    for (const tail of [...this.#open]) tail.end();
  }

  #groupOf(of: TailOf): Group {
    const key = keyOf(of);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new Group(of, this.#source, { turns: this.#turns, empty: () => this.#groups.delete(key) });
    this.#groups.set(key, group);
    return group;
  }
}

/** Equal for tails that are told the same. */
function keyOf({ projectId, list, query }: TailOf): string {
  const { fields, textLimit } = query;
  return JSON.stringify([projectId, list, selectionOf(query), fields, textLimit]);
}

/** Tails with the same query, which are read for once. */
class Group {
  /** Grows with each commit to the project. */
  commits = 0;
  readonly #of: TailOf;
  readonly #source: TailSource;
  readonly #turns: FairSemaphore;
  readonly #empty: () => void;
  readonly #members = new Map<Tail, () => void>();
  #unsubscribe = (): void => undefined;
  /** Reads of this turn, by the state that they begin with. */
  #reads = new Map<State, Promise<TailNews>>();
  #turn: Promise<void> | null = null;
  #turnedAt = -Infinity;

  /** @param shared `turns` of all groups; `empty` is called once no one is left */
  constructor(of: TailOf, source: TailSource, shared: { readonly turns: FairSemaphore; readonly empty: () => void }) {
    this.#of = of;
    this.#source = source;
    this.#turns = shared.turns;
    this.#empty = shared.empty;
  }

  /** @param wake called after each commit */
  join(tail: Tail, wake: () => void): void {
    if (this.#members.size === 0)
      this.#unsubscribe = this.#source.onCommit(this.#of.projectId, () => {
        this.commits += 1;
        for (const wakeOne of this.#members.values()) wakeOne();
      });
    this.#members.set(tail, wake);
  }

  leave(tail: Tail): void {
    if (!this.#members.delete(tail) || this.#members.size > 0) return;
    this.#unsubscribe();
    this.#empty();
  }

  /** Resolves when the next read is due, for all who wait at once. */
  turn(): Promise<void> {
    return (this.#turn ??= this.#due().then(() => {
      this.#turnedAt = performance.now();
      this.#turn = null;
      this.#reads = new Map();
    }));
  }

  async #due(): Promise<void> {
    const inMs = this.#turnedAt + READ_EVERY_MS - performance.now();
    if (inMs > 0) await new Promise((resolve) => setTimeout(resolve, inMs));
  }

  read(after: State): Promise<TailNews> {
    const known = this.#reads.get(after);
    if (known !== undefined) return known;
    const news = this.#readInTurn(after);
    this.#reads.set(after, news);
    return news;
  }

  async #readInTurn(after: State): Promise<TailNews> {
    const end = await this.#turns.take(this.#of.projectId);
    const beganAt = performance.now();
    try {
      // A client that opens tails and leaves causes no reads.
      if (this.#members.size === 0) return { rows: [], skipped: 0, state: after };
      return await this.#source.read(this.#of, after);
    } finally {
      setTimeout(end, restMs('follow', performance.now() - beganAt)).unref();
    }
  }
}

/** One who follows a list. Nothing is read for it unless it waits. */
export class Tail {
  readonly #group: Group;
  readonly #ended: () => void;
  #state: State;
  /** Commits of the group that it has seen; another number: there is something to read. */
  #seen: number;
  #missed: boolean;
  #isEnded = false;
  #wake = (): void => undefined;

  /** @param missed whether it begins later than it was to */
  constructor(group: Group, from: State, missed: boolean, ended: () => void) {
    this.#group = group;
    this.#state = from;
    this.#missed = missed;
    this.#ended = ended;
    group.join(this, () => this.#wake());
    this.#seen = -1;
  }

  /** The state up to which everything was told. */
  get state(): State {
    return this.#state;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The next news; null when there are none within the time, or when it was ended. @throws DomainError `unavailable` */
  async next(withinMs: number): Promise<TailNews | null> {
    if (this.#missed) {
      this.#missed = false;
      return { rows: [], skipped: null, state: this.#state };
    }
    const until = performance.now() + withinMs;
    while (!this.#isEnded) {
      if (this.#seen === this.#group.commits) await this.#woken(until - performance.now());
      if (this.#isEnded || this.#seen === this.#group.commits) return null;
      await this.#group.turn();
      if (this.isEnded) return null;
      this.#seen = this.#group.commits;
      const news = await this.#group.read(this.#state);
      this.#state = news.state;
      if (news.rows.length > 0 || news.skipped !== 0) return news;
    }
    return null;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#group.leave(this);
    this.#ended();
    this.#wake();
  }

  #woken(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, withinMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
