import type { JudgeStore } from './judge-store.js';
import type { Run } from './run.js';
import { MAX_CHARACTERS_TOGETHER, shapeOf } from './whole-settings.js';

/** Traces and sessions that are read together: each takes several statements, and others wait for their turn. */
const MAX_WHOLES_TOGETHER = 8;

/** The memory that traces and sessions take which runs are about. */
export class WholeRoom {
  readonly #judges: Pick<JudgeStore, 'find'>;

  constructor(judges: Pick<JudgeStore, 'find'>) {
    this.#judges = judges;
  }

  /**
   * The first of some runs, as many as memory has room for the traces and sessions that they are about, beside those of all
   * projects that are held: one at least, so that no project waits for what others hold.
   * @param held how many characters these are
   */
  fitting(runs: readonly Run[], held: () => number): readonly Run[] {
    let room = runs.some(({ subject_id }) => subject_id != null) ? MAX_CHARACTERS_TOGETHER - held() : 0;
    let wholes = 0;
    const isTooMuch = (run: Run) => {
      if (run.subject_id == null) return false;
      wholes += 1;
      room -= this.sizeOf(run);
      return room < 0 || wholes > MAX_WHOLES_TOGETHER;
    };
    const end = runs.findIndex((run, index) => isTooMuch(run) && index > 0);
    return end === -1 ? runs : runs.slice(0, end);
  }

  /** Characters that what a run is about may take. */
  sizeOf({ project_id, judge_id, subject_id }: Run): number {
    const judge = subject_id == null ? undefined : this.#judges.find(project_id, judge_id);
    return (judge && shapeOf(judge)?.maxCharacters) ?? 0;
  }
}
