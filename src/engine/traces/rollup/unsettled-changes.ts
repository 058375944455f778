import type { Version } from '../write/version-clock.js';
import type { CommittedState } from '../read/reads-in-progress.js';
import { DirtySet, type DirtyItem, type WaitingItem } from './dirty-set.js';

/** Traces and sessions that one round recomputes. */
export interface RoundItems {
  readonly traces: readonly WaitingItem[];
  readonly sessions: readonly WaitingItem[];
}

/** Up to where ClickHouse holds all that was acknowledged. */
export interface StoredState {
  /** @param projectId default: of all projects */
  storedUpTo(projectId?: string): Version;
}

/** Traces and sessions that flushes changed and no round has stored yet: some wait, some are in the round in progress. */
export class UnsettledChanges {
  readonly #traces = new DirtySet();
  readonly #sessions = new DirtySet();
  /** Traces and sessions that the round in progress recomputes. */
  #inRound = { traces: new DirtySet(), sessions: new DirtySet() };
  readonly #state: StoredState;

  constructor(state: StoredState) {
    this.#state = state;
  }

  /** The version up to which ClickHouse holds everything acknowledged. @param projectId default: of all projects */
  storedUpTo(projectId?: string): Version {
    return this.#state.storedUpTo(projectId);
  }

  /** Traces and sessions that wait for a round. */
  get waiting(): number {
    return this.#traces.size + this.#sessions.size;
  }

  /** Traces that wait for a round. */
  get waitingTraces(): number {
    return this.#traces.size;
  }

  markTrace(trace: WaitingItem): void {
    this.#traces.add(trace);
  }

  markSession(session: WaitingItem): void {
    this.#sessions.add(session);
  }

  /** The version up to which all commits are in the rollups right now. @param projectId default: those of all projects */
  settled(projectId?: string): Version {
    const sets = [this.#traces, this.#sessions, this.#inRound.traces, this.#inRound.sessions];
    return Math.min(this.storedUpTo(projectId), ...sets.map((set) => set.since(projectId) - 1));
  }

  /** The commit that first changed a trace since a round stored it; Infinity when it is settled. */
  sinceOfTrace(trace: DirtyItem): Version {
    return Math.min(this.#traces.sinceOf(trace), this.#inRound.traces.sinceOf(trace));
  }

  /** How many traces of a project no round has stored yet. */
  tracesOf(projectId: string): number {
    return this.#traces.sizeOf(projectId) + this.#inRound.traces.sizeOf(projectId);
  }

  /** The state of a project that can be read without waiting for a round. */
  committedOf(projectId: string): CommittedState {
    const idsOf = (waiting: DirtySet, inRound: DirtySet) => [
      ...new Set([...waiting.idsOf(projectId), ...inRound.idsOf(projectId)]),
    ];
    return {
      upTo: this.storedUpTo(projectId),
      traces: idsOf(this.#traces, this.#inRound.traces),
      sessions: idsOf(this.#sessions, this.#inRound.sessions),
    };
  }

  /** Begins a round of up to `most` traces and sessions. The other parameters are those of {@link DirtySet.take}. */
  beginRound(most: number, awaited: ReadonlySet<string>, upTo: (projectId: string) => Version): RoundItems {
    const traces = this.#traces.take(most, awaited, upTo);
    const sessions = this.#sessions.take(most, awaited, upTo);
    this.#inRound = { traces: setOf(traces), sessions: setOf(sessions) };
    return { traces, sessions };
  }

  /** Call when a round has stored its items. @param upTo of each project, the state that was rolled up */
  stored({ traces, sessions }: RoundItems, upTo: (projectId: string) => Version): void {
    for (const trace of traces) addRest(this.#traces, trace, upTo);
    for (const session of sessions) addRest(this.#sessions, session, upTo);
  }

  /** Call when a round could not store its items. */
  restore({ traces, sessions }: RoundItems): void {
    this.#traces.restore(traces);
    this.#sessions.restore(sessions);
  }

  endRound(): void {
    this.#inRound = { traces: new DirtySet(), sessions: new DirtySet() };
  }
}

/** Marks again what changed after the state that was rolled up. */
function addRest(dirty: DirtySet, item: WaitingItem, upTo: (projectId: string) => Version): void {
  const since = upTo(item.projectId) + 1;
  if (item.last >= since) dirty.add({ ...item, since });
}

function setOf(items: readonly WaitingItem[]): DirtySet {
  const set = new DirtySet();
  for (const item of items) set.add(item);
  return set;
}
