import type { Judge } from './judge.js';
import { queueQuota } from './queue-quota.js';
import type { RunStore } from './run-store.js';
import { MAX_CHANGES } from './whole-settings.js';

/** Spans looked at together. */
export const PAGE = 500;

/** How many new spans judges may look at next, as each may queue a run of any of them: what is queued is counted once. */
export class FeedRoom {
  readonly #queueMax: number;
  readonly #queued: ReadonlyMap<string, number>;
  /** By project and judge. */
  readonly #changes = new Map<string, Map<string, number>>();
  /** The same by project. */
  readonly #allChanges = new Map<string, number>();

  /** @throws DomainError `unavailable` */
  constructor(runs: Pick<RunStore, 'queued' | 'changes'>, queueMax: number) {
    this.#queueMax = queueMax;
    this.#queued = runs.queued();
    for (const { project_id, judge_id, runs: count } of runs.changes()) {
      const ofProject = this.#changes.get(project_id) ?? new Map<string, number>();
      this.#changes.set(project_id, ofProject.set(judge_id, count));
      this.#allChanges.set(project_id, (this.#allChanges.get(project_id) ?? 0) + count);
    }
  }

  /** By judge; 0: it has to wait. Judges of spans share the queue; of traces and sessions, each judge has its share. */
  of(projectId: string, judges: readonly Judge[]): ReadonlyMap<string, number> {
    const ofWholes = judges.filter(({ subject }) => subject !== 'span').length;
    const ofSpans = part(queueQuota(projectId, this.#queued, this.#queueMax), judges.length - ofWholes);
    const changes = this.#changes.get(projectId) ?? new Map<string, number>();
    const most = (this.#allChanges.get(projectId) ?? 0) + queueQuota(projectId, this.#allChanges, MAX_CHANGES);
    return new Map(
      judges.map(({ id, subject }) => [
        id,
        subject === 'span' ? ofSpans : part(queueQuota(id, changes, most), ofWholes),
      ]),
    );
  }
}

/** An equal part of the room for each of so many judges, as far as a page goes. */
function part(room: number, judges: number): number {
  return room === 0 ? 0 : Math.min(PAGE, Math.max(1, Math.floor(room / judges)));
}
