import type { RolledUpItem } from '../../signals/catalog/storage.js';
import { RETRIES, retryDelay } from '../../work/backoff.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { sql, value } from '../clickhouse/client/sql.js';
import type { VersionClock } from '../write/version-clock.js';
import type { DirtyItem } from './dirty-set.js';
import type { Signals } from '../../signals/signals.js';

export type Kind = RolledUpItem['kind'];

/** Traces and sessions of a project whose rows in the lists may lack writes. */
export interface NotCurrent {
  /** Traces that are set aside: their tags are left out, or they are stale. */
  readonly traces: readonly string[];
  /** Sessions that such traces bring something to, and sessions that are set aside themselves. */
  readonly sessions: readonly string[];
  /** Traces of which not even the replaced spans are told from those that count. */
  readonly stale: readonly string[];
}

/** A trace or session that cannot be recomputed as a whole. Times as of `performance.now()`. */
export interface Aside extends RolledUpItem {
  /** Whether the item cannot be recomputed without its tags either: its row is left as it was. */
  readonly stale: boolean;
  /** Sessions that a trace brings something to. */
  readonly sessions: readonly string[];
  /** How many tries failed since the last write to the item. */
  readonly failures: number;
  readonly triedAt: number;
  readonly dueAt: number;
  /** How many writes to the item were noted; another number after a try tells that one came meanwhile. */
  readonly writes: number;
  /** Whether the item was recomputed as a whole after all, except for what was written meanwhile. */
  readonly fits: boolean;
}

/** The items that are set aside, kept in the store so that a start does not try them before it serves. */
export class SetAside {
  readonly #client: ClickHouseClient;
  readonly #clock: VersionClock;
  readonly #observer: Signals;
  readonly #retryMs: number;
  readonly #items = new Map<string, Aside>();

  /** @param retryMs how long after a try in vain the next one may come; from try to try it takes twice as long. */
  constructor(client: ClickHouseClient, clock: VersionClock, observer: Signals, retryMs: number) {
    this.#client = client;
    this.#clock = clock;
    this.#observer = observer;
    this.#retryMs = retryMs;
  }

  /** Reads the items that an earlier process has set aside, to be tried again soon. */
  async load(): Promise<void> {
    const rows = await this.#client.query<RolledUpItem & { stale: number }>(
      sql`SELECT project_id AS projectId, kind, toString(s.id) AS id, stale FROM set_aside AS s FINAL WHERE aside`,
    );
    const sessions = await this.#sessionsOf(rows.filter(({ kind }) => kind === 'trace'));
    for (const { stale, ...item } of rows) {
      if (this.#items.has(keyOf(item))) continue;
      const none = { failures: 0, triedAt: 0, dueAt: performance.now() + this.#retryMs, writes: 0, fits: false };
      this.#set({ ...item, ...none, stale: stale === 1, sessions: sessions.get(keyOf(item)) ?? [] });
    }
  }

  get(kind: Kind, { projectId, id }: DirtyItem): Aside | undefined {
    return this.#items.size === 0 ? undefined : this.#items.get(keyOf({ kind, projectId, id }));
  }

  /** Notes a write to an item: if it is set aside, it is tried again, though not at every write. */
  written(kind: Kind, item: DirtyItem): void {
    const aside = this.get(kind, item);
    if (aside === undefined) return;
    this.#set({ ...this.#hastened(aside), writes: aside.writes + 1 });
  }

  /**
   * Sets an item aside, durably, after a try to recompute it as a whole failed.
   * @throws DomainError when ClickHouse does not answer
   */
  async add(kind: Kind, { projectId, id }: DirtyItem, error: unknown): Promise<void> {
    const before = this.get(kind, { projectId, id });
    const [failures, now] = [(before?.failures ?? 0) + 1, performance.now()];
    const dueAt = now + retryDelay(failures, { ...RETRIES.large, firstMs: this.#retryMs });
    const aside: Aside = {
      ...(before ?? { kind, projectId, id, stale: false, sessions: [], writes: 0 }),
      ...{ failures, triedAt: now, dueAt, fits: false },
    };
    if (before === undefined) await this.#store(aside, true);
    this.#set(aside);
    if (before === undefined) this.#observer.tagsSetAside({ kind, projectId, id, error });
  }

  /** Notes whether items of one kind that are set aside were recomputed at least without their tags. */
  async bared(kind: Kind, items: readonly DirtyItem[], stale: boolean, error?: unknown): Promise<void> {
    const asides = items.flatMap((item) => this.get(kind, item) ?? []);
    const sessions = kind === 'trace' ? await this.#sessionsOf(asides) : new Map<string, string[]>();
    for (const before of asides) {
      const aside = { ...before, stale, sessions: sessions.get(keyOf(before)) ?? [] };
      if (stale !== before.stale) await this.#store(aside, true);
      this.#set(aside);
      if (stale && !before.stale) this.#observer.figuresSetAside({ ...before, error });
    }
  }

  /** Notes that rows are gone, so that the items that they belonged to may fit. */
  purged(): void {
    for (const aside of this.#items.values()) this.#set(this.#hastened(aside));
  }

  /** Puts off an item that could not be tried. */
  putOff(aside: Aside): void {
    const now = this.get(aside.kind, aside);
    if (now !== undefined) this.#set({ ...now, dueAt: performance.now() + this.#retryMs });
  }

  /** Takes back an item that was recomputed as a whole: now, or after the round that recomputes what came meanwhile. */
  async recomputed(aside: Aside): Promise<void> {
    const now = this.get(aside.kind, aside);
    if (now === undefined) return;
    const triedAt = performance.now();
    if (now.writes === aside.writes) await this.end(aside.kind, aside);
    else this.#set({ ...now, fits: true, triedAt, dueAt: triedAt + this.#retryMs });
  }

  /** Takes back an item: it is current, and set aside no longer. */
  async end(kind: Kind, item: DirtyItem): Promise<void> {
    const aside = this.get(kind, item);
    if (aside === undefined) return;
    await this.#store(aside, false);
    this.#items.delete(keyOf(aside));
    this.#count();
    this.#observer.setAsideEnded({ kind, projectId: aside.projectId, id: aside.id });
  }

  /** Forgets the items of a project that is deleted; their rows are deleted by the caller. */
  forget(projectId: string): void {
    for (const [key, aside] of this.#items) if (aside.projectId === projectId) this.#items.delete(key);
    this.#count();
  }

  get anySession(): boolean {
    return [...this.#items.values()].some(({ kind }) => kind === 'session');
  }

  /** The item whose next try is due first. */
  next(): Aside | undefined {
    return [...this.#items.values()].sort((one, other) => one.dueAt - other.dueAt)[0];
  }

  notCurrent(projectId: string): NotCurrent {
    const own = [...this.#items.values()].filter((aside) => aside.projectId === projectId);
    const traces = own.filter(({ kind }) => kind === 'trace');
    const sessions = own.flatMap(({ kind, id, sessions: named }) => (kind === 'session' ? [id] : named));
    return {
      traces: traces.map(({ id }) => id),
      sessions: [...new Set(sessions)],
      stale: traces.filter(({ stale }) => stale).map(({ id }) => id),
    };
  }

  #hastened(aside: Aside): Aside {
    return { ...aside, failures: 0, dueAt: Math.min(aside.dueAt, aside.triedAt + this.#retryMs) };
  }

  async #store({ projectId, kind, id, stale }: Aside, aside: boolean): Promise<void> {
    const row = [projectId, kind, id, this.#clock.take(1), aside ? 1 : 0, stale ? 1 : 0];
    const columns = ['project_id', 'kind', 'id', 'ver', 'aside', 'stale'];
    await this.#client.insert('set_aside', columns, 'JSONCompactEachRow', Buffer.from(JSON.stringify(row)));
  }

  async #sessionsOf(traces: readonly DirtyItem[]): Promise<Map<string, string[]>> {
    if (traces.length === 0) return new Map();
    const projects = value([...new Set(traces.map(({ projectId }) => projectId))], 'Array(String)');
    const ids = value(
      traces.map(({ id }) => id),
      'Array(UUID)',
    );
    const rows = await this.#client.query<DirtyItem & { sessions: string[] }>(
      sql`SELECT project_id AS projectId, toString(f.trace_id) AS id, groupUniqArray(toString(f.session_id)) AS sessions FROM facts AS f
       WHERE project_id IN ${projects} AND f.trace_id IN ${ids} AND isNotNull(f.session_id)
       GROUP BY project_id, f.trace_id`,
    );
    return new Map(rows.map(({ sessions, ...trace }) => [keyOf({ kind: 'trace', ...trace }), sessions]));
  }

  #set(aside: Aside): void {
    this.#items.set(keyOf(aside), aside);
    this.#count();
  }

  #count(): void {
    const traces = [...this.#items.values()].filter(({ kind }) => kind === 'trace').length;
    this.#observer.setAsideCounted({ traces, sessions: this.#items.size - traces });
  }
}

function keyOf({ kind, projectId, id }: RolledUpItem): string {
  return `${kind}/${projectId}/${id}`;
}
