import { rm } from 'node:fs/promises';
import { DomainError } from '../../engine/errors.js';
import type { Signals } from '../../engine/signals/signals.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { restMs, type Governor } from '../../engine/work/governor.js';
import { writeObject, type ExportSource, type ObjectFile, type ObjectParts } from './object-file.js';
import type { Schedule, ScheduleStore } from './schedule.js';

/** Where objects go: the operator's bucket. */
export interface ExportBucket {
  /**
   * Takes in a file under a name, whatever is there.
   * @param again whether an upload of it may have been interrupted, whose parts are removed
   * @throws DomainError
   */
  put(path: string, name: string, again: boolean): Promise<void>;
}

export interface ExportLoopParts extends Pick<ObjectParts, 'directory' | 'requireSpace' | 'mostRows'> {
  readonly store: ScheduleStore;
  readonly bucket: ExportBucket;
  /** What a schedule exports. @throws DomainError `invalid` after an upgrade that knows less */
  readonly sourceOf: (schedule: Schedule) => ExportSource;
  readonly governor: Pick<Governor, 'storeIsUsed'>;
  readonly isGone: (projectId: string) => boolean;
  readonly observer: Pick<Signals, 'scheduledExportUploaded' | 'scheduledExportFailed'>;
}

/** Due schedules that are looked at for the one of a project that waits longest. */
const LOOKED_AT = 1_000;
/** Rows that were left out before which an object may have. */
const LEFT_OUT_AT_ONCE = 1_000;
/** The longest wait: another process may have written. */
const LOOK_MS = 60_000;

/**
 * Makes the objects of schedules that are due, one at a time: a project that has much to export makes one, and goes behind the others.
 * An object is named in the store before it is uploaded, and counts once it is: what is interrupted in between is made again, of what
 * is left of its rows, under the same name.
 */
export class ExportLoop {
  readonly #parts: ExportLoopParts;
  readonly #loop: BackgroundLoop;
  #isClear = false;
  /** Projects in the order in which an object of theirs was last begun, the latest last. */
  readonly #served = new Set<string>();

  constructor(parts: ExportLoopParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => parts.observer.scheduledExportFailed({ project: 'any', id: 'any', error }),
    });
  }

  /** Call at the start, and when a schedule has changed. */
  wake(): void {
    this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close(new DomainError('unavailable', 'The server is stopping'));
  }

  async #round(): Promise<number> {
    const { store, directory } = this.#parts;
    // What a killed server left.
    if (!this.#isClear) await rm(directory, { recursive: true, force: true });
    this.#isClear = true;
    const next = this.#next(store.due(Date.now() * 1000, LOOKED_AT));
    if (next !== undefined) {
      this.#served.delete(next.project_id);
      this.#served.add(next.project_id);
      await this.#export(next);
    }
    const nextAt = store.nextAt();
    return nextAt === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, nextAt / 1000 - Date.now()));
  }

  /** The one that is longest due, of the project that has waited longest. */
  #next(due: readonly Schedule[]): Schedule | undefined {
    const first = [...this.#served].find((project) => due.some(({ project_id }) => project_id === project));
    return (
      due.find(({ project_id }) => !this.#served.has(project_id)) ?? due.find(({ project_id }) => project_id === first)
    );
  }

  async #export(schedule: Schedule): Promise<void> {
    const { store, observer } = this.#parts;
    const { id, project_id: project } = schedule;
    if (this.#parts.isGone(project)) {
      store.fail(id, 'The project is being deleted', Date.now() * 1000 + RETRIES.large.mostMs * 1000);
      return;
    }
    try {
      await this.#object(schedule);
    } catch (error) {
      if (this.#loop.signal.aborted) return;
      observer.scheduledExportFailed({ project, id, error });
      const inMicros = Math.round(retryDelay(schedule.failures + 1, RETRIES.large) * 1000);
      store.fail(id, reasonOf(error), Date.now() * 1000 + inMicros);
    }
  }

  /** Makes the next object. Without rows there is none, unless one was begun: it may be there. */
  async #object(schedule: Schedule): Promise<void> {
    const { store, bucket, observer } = this.#parts;
    const file = await writeObject(
      { ...this.#parts, signal: this.#loop.signal, rest: (tookMs) => this.#rest(tookMs) },
      { schedule, source: this.#parts.sourceOf(schedule), leftOut: store.leftOut(schedule.id, LEFT_OUT_AT_ONCE) },
    );
    try {
      const object = file.rows === 0 && schedule.object === null ? null : (schedule.object ?? nameOf(schedule, file));
      if (object !== null) {
        if (!store.begin(schedule.id, object, file.to)) return;
        await bucket.put(file.path, object, schedule.object !== null);
        observer.scheduledExportUploaded({ project: schedule.project_id, id: schedule.id, rows: file.rows });
      }
      const at = Date.now() * 1000;
      // There may be more behind one that is full, or was made again.
      const isFollowed = file.isFull || schedule.object !== null;
      const next_at = isFollowed ? at : at + schedule.every_minutes * 60e6;
      // It may have been changed, or ordered again, meanwhile.
      const { to, rows, leftOut, caughtUp } = file;
      const exported = { to, object, rows, leftOut, caughtUp, at, next_at, planned: schedule.next_at };
      store.finish(schedule.id, exported);
    } finally {
      await rm(file.path, { force: true });
    }
  }

  async #rest(tookMs: number): Promise<void> {
    if (this.#parts.governor.storeIsUsed) await this.#loop.rest(restMs('upkeep', tookMs));
  }
}

/** Behind the object before, and below the project alone. One that only has what was left out reaches no further than that. */
function nameOf({ id, project_id, list, format, last_object }: Schedule, { to }: ObjectFile): string {
  const [, last = '0'] = /-(\d+)\.[a-z]+$/.exec(last_object ?? '') ?? [];
  const number = Math.max(to, Number(last) + 1);
  return `${project_id}/${id}/${list}-${String(number).padStart(16, '0')}.${format}`;
}

/** Why an attempt failed, as the creator of the schedule may know it, without the address of the operator's bucket. */
function reasonOf(error: unknown): string {
  if (!(error instanceof DomainError)) return 'An internal error; see the server log';
  switch (error.kind) {
    case 'forbidden':
      return 'The bucket denied access; the operator finds why in the server log';
    case 'not_found':
      return 'The bucket does not exist; the operator finds more in the server log';
    case 'invalid':
      return `The filters are no longer valid: ${error.message}`;
    default:
      return 'The bucket or a store did not respond, or the disk is full; the operator finds more in the server log';
  }
}
