import type { Micros } from '../../engine/timestamp.js';
import type { FeedLane } from './feed-lane.js';
import type { Judge } from './judge.js';
import type { Looked } from './run-store.js';

/** Judges of a project that have looked equally far. */
export interface Lane {
  readonly reader: FeedLane;
  readonly judges: Set<string>;
  /** Spans that arrived up to here were looked at. */
  position: Micros;
  looking: boolean;
  /** Looks in a row that failed. */
  failures: number;
  /** Earliest time of the next look, on the clock of `performance`. */
  notBefore: number;
}

/** A lane that may look, at so many spans, which arrived up to a moment. */
export interface NextLook {
  readonly lane: Lane;
  readonly limit: number;
  readonly upTo: Micros;
}

/** @param isOfLane whether a judge, by its id, is of the lane now */
export type OpenReader = (isOfLane: (judgeId: string) => boolean) => FeedLane;

/**
 * How far the judges of one project have looked at its new spans. They look together, until some have less room for what they
 * would queue than others: these fall behind, and no one waits for them. Once they have looked as far, they are together again.
 */
export class ProjectFeed {
  readonly id: string;
  readonly #open: OpenReader;
  /** In the order of their positions: judges of the last have looked the farthest. There is one at least. */
  readonly #lanes: Lane[];
  #judges: ReadonlyMap<string, Judge>;
  /** Whether there may be more to look at, for the judges that have looked the farthest. */
  hasNews = true;
  /** Whether positions have changed since they were stored. */
  isMoved = false;

  constructor(id: string, looked: Looked, judges: readonly Judge[], open: OpenReader) {
    this.id = id;
    this.#open = open;
    this.#judges = byId(judges);
    const front = this.#lane(looked.arrived_at, []);
    const late = judges.filter(({ id: judge }) => (looked.behind[judge] ?? Infinity) < front.position);
    const positions = new Set(late.map(({ id: judge }) => looked.behind[judge] ?? 0));
    this.#lanes = [...positions]
      .sort((one, other) => one - other)
      .map((position) =>
        this.#lane(
          position,
          late.filter(({ id: judge }) => looked.behind[judge] === position),
        ),
      );
    this.#lanes.push(front);
    for (const judge of judges) if (!late.includes(judge)) front.judges.add(judge.id);
  }

  /** Judges of the project were made, changed or deleted. */
  setJudges(judges: readonly Judge[]): void {
    this.#judges = byId(judges);
    for (const lane of this.#lanes)
      for (const id of lane.judges)
        if (!this.#judges.has(id)) {
          lane.judges.delete(id);
          this.isMoved = true;
        }
    this.#tidy();
    const known = new Set(this.#lanes.flatMap((lane) => [...lane.judges]));
    for (const { id } of judges) if (!known.has(id)) this.#front.judges.add(id);
  }

  get looked(): Looked {
    const behind = this.#lanes.slice(0, -1).flatMap(({ judges, position }) => [...judges].map((id) => [id, position]));
    return { arrived_at: this.#front.position, behind: Object.fromEntries(behind) as Looked['behind'] };
  }

  /** Whether some judges are behind others. */
  get isSplit(): boolean {
    return this.#lanes.length > 1;
  }

  /** Whether any judge has something to look at, once it has room. */
  get isDue(): boolean {
    return this.hasNews || this.isSplit;
  }

  isFront(lane: Lane): boolean {
    return lane === this.#front;
  }

  /** Nothing arrived for the judges that have looked the farthest, from one moment up to another. */
  skip(since: Micros, upTo: Micros): void {
    const front = this.#front;
    if (this.hasNews || front.looking || front.position < since) return;
    this.move(front, Math.max(front.position, upTo));
  }

  move(lane: Lane, to: Micros): void {
    if (to <= lane.position) return;
    lane.position = to;
    this.isMoved = true;
  }

  /** When a lane may look whose last look failed, behind a moment; Infinity: there is none. Both on the clock of `performance`. */
  waitsUntil(now: number): number {
    return Math.min(Infinity, ...this.#lanes.map(({ notBefore }) => notBefore).filter((at) => at > now));
  }

  /** The lanes that may look now. @param room how many spans each judge may look at */
  next(room: ReadonlyMap<string, number>, now: number): NextLook[] {
    this.#tidy();
    const looks: NextLook[] = [];
    for (const lane of [...this.#lanes]) {
      if (lane.looking || lane.notBefore > now) continue;
      const ahead = this.#lanes[this.#lanes.indexOf(lane) + 1];
      if (ahead === undefined ? !this.hasNews : lane.position >= ahead.position) continue;
      const limit = Math.max(0, ...[...lane.judges].map((id) => room.get(id) ?? 0));
      if (limit === 0) continue;
      this.#leave(lane, (id) => (room.get(id) ?? 0) < limit);
      looks.push({ lane, limit, upTo: ahead?.position ?? Infinity });
    }
    return looks;
  }

  get #front(): Lane {
    return this.#lanes.at(-1) as Lane;
  }

  /** Leaves judges behind that have less room than others of their lane. */
  #leave(lane: Lane, isSlower: (judgeId: string) => boolean): void {
    const slower = [...lane.judges].filter(isSlower);
    if (slower.length === 0) return;
    for (const id of slower) lane.judges.delete(id);
    const behind = this.#lane(
      lane.position,
      slower.map((id) => ({ id })),
    );
    this.#lanes.splice(this.#lanes.indexOf(lane), 0, behind);
  }

  /** Takes lanes together that have looked equally far, and removes those without judges. */
  #tidy(): void {
    for (let index = this.#lanes.length - 2; index >= 0; index -= 1) {
      const [lane, ahead] = [this.#lanes[index], this.#lanes[index + 1]];
      if (lane === undefined || ahead === undefined || lane.looking || ahead.looking) continue;
      if (ahead.judges.size > 0 && lane.judges.size > 0 && this.#reached(lane) < ahead.position) continue;
      // Of a lane without judges the position means nothing: what the others have not seen is there for them.
      const gone = ahead.judges.size === 0 ? ahead : lane;
      if (gone === ahead && index === this.#lanes.length - 2) this.hasNews = true;
      if (gone === lane) for (const id of lane.judges) ahead.judges.add(id);
      this.#lanes.splice(this.#lanes.indexOf(gone), 1);
      this.isMoved = true;
    }
  }

  /** Up to where nothing is left for the judges of a lane: what came before they were enabled is none of theirs. */
  #reached({ judges, position }: Lane): Micros {
    const since = [...judges].map((id) => this.#judges.get(id)?.judged_since ?? Infinity);
    return Math.max(position, Math.min(...since));
  }

  #lane(position: Micros, judges: readonly Pick<Judge, 'id'>[]): Lane {
    const ids = new Set(judges.map(({ id }) => id));
    const reader = this.#open((id) => ids.has(id));
    return { reader, judges: ids, position, looking: false, failures: 0, notBefore: 0 };
  }
}

function byId(judges: readonly Judge[]): ReadonlyMap<string, Judge> {
  return new Map(judges.map((judge) => [judge.id, judge]));
}
