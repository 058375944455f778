import { remainingQuota } from '../../work/fair-quota.js';
import type { Governor } from '../../work/governor.js';
import { ReadBudget } from './read-budget.js';
import type { UnsettledChanges } from './unsettled-changes.js';

/** Traces that are to be recomputed, at most, so that memory does not grow; shared by the projects that have some. */
const MAX_DIRTY = 50_000;
/** Traces of a project that are not rolled up and add to each of its lists about what a list takes anyway. */
const MANY_TO_READ = 300;

/** How urgent rounds are for a project: whether one pays at once, and whether writes must wait for it. */
export class RollupPressure {
  readonly #changes: UnsettledChanges;
  readonly #governor: Pick<Governor, 'listsAreRead'>;
  readonly #budget = new ReadBudget();

  constructor(changes: UnsettledChanges, governor: Pick<Governor, 'listsAreRead'>) {
    this.#changes = changes;
    this.#governor = governor;
  }

  /** Whether the writes of a project must wait for rounds. @param unflushed its traces that are written to and not stored yet */
  isFull(projectId: string, unflushed: number): boolean {
    const ofParty = this.#changes.tracesOf(projectId) + unflushed;
    if (ofParty === 0) return false;
    const taken = this.#changes.waitingTraces;
    return ofParty > this.#budget.most || remainingQuota({ limit: MAX_DIRTY, taken, ofParty }) < 0;
  }

  /** Whether a project is half way to where its writes must wait. */
  isHalfFull(projectId: string): boolean {
    return this.#changes.tracesOf(projectId) > this.#budget.most / 2;
  }

  /** Whether a round pays at once: for readers when a list takes noticeably longer for what is not rolled up. */
  isPressing(projectId: string): boolean {
    return (
      this.isHalfFull(projectId) || (this.#governor.listsAreRead && this.#changes.tracesOf(projectId) > MANY_TO_READ)
    );
  }

  /** Call after each round: what it took shows what reading unsettled traces takes. */
  rolledUp(round: { readonly traces: number; readonly ms: number }): void {
    this.#budget.rolledUp(round);
  }
}
