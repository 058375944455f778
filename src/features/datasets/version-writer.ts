import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import {
  MAX_COLUMN_CHARACTERS,
  MAX_COLUMNS,
  MAX_DATASET_VERSIONS,
  MAX_ROWS,
  tooManyRows,
  type Changes,
  type Dataset,
  type DatasetStore,
  type DatasetVersion,
  type NewRow,
  type RowStaging,
} from './dataset.js';

/** Rows that one transaction stages or ends: some milliseconds of work, of which a commit takes a good part. */
const AT_ONCE = 500;
const BYTES_AT_ONCE = 512 * 1024;
/** How many requests wait for a version of the same dataset to be made, and how long. */
const WAITING = 32;
const WAIT_MS = 30_000;

/** What becomes a version. */
export interface VersionDraft {
  readonly rows: readonly NewRow[];
  readonly columns: readonly string[];
  /** Whether the rows are all there are, or change those of the newest version. */
  readonly mode: 'replace' | 'merge';
  /** Ids of rows that go. */
  readonly remove: readonly string[];
  readonly message: string;
  readonly created_by: string;
  /** The newest version as the client knows it; null: any. */
  readonly baseVersion: number | null;
}

export interface VersionWriterParts {
  readonly datasets: DatasetStore;
  readonly staging: RowStaging;
  /** @throws DomainError `unavailable` while there is too little room on the disks */
  readonly requireSpace: () => void;
}

/**
 * Makes versions, one at a time of a dataset, in portions that others see only once all of it is there. One that was interrupted
 * leaves nothing: the next one begins by removing its remains.
 */
export class VersionWriter {
  readonly #datasets: DatasetStore;
  readonly #staging: RowStaging;
  readonly #turns = new FairSemaphore('versions of this dataset', {
    atOnce: Number.MAX_SAFE_INTEGER,
    perParty: 1,
    maxWaiting: WAITING,
    maxWaitMs: WAIT_MS,
  });

  readonly #requireSpace: () => void;

  constructor({ datasets, staging, requireSpace }: VersionWriterParts) {
    this.#datasets = datasets;
    this.#staging = staging;
    this.#requireSpace = requireSpace;
  }

  /**
   * Makes the next version, unless it would say what the newest one says: then that is the answer, so that a retry makes none.
   * @throws DomainError `conflict`, `too_large`, `not_found` where the dataset was deleted meanwhile, `overloaded`
   */
  async write(
    projectId: string,
    datasetId: string,
    draft: VersionDraft,
    signal?: AbortSignal,
  ): Promise<DatasetVersion> {
    const end = await this.#turns.take(datasetId, signal);
    try {
      return await this.#write(projectId, datasetId, draft, signal);
    } catch (error) {
      // What cannot be dropped now, the next version or the next start drops.
      await this.#dropStaged(datasetId).catch(() => undefined);
      throw error;
    } finally {
      end();
    }
  }

  /** Does what changes rows of a dataset while no version of it is being made. @throws DomainError `overloaded`, and what the work throws */
  inTurn<T>(datasetId: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(datasetId, async () => {
      await this.#dropStaged(datasetId);
      return work();
    });
  }

  /** Removes what a crash left of versions that were being made. */
  async removeUnfinished(isClosed: () => boolean): Promise<void> {
    for (const id of this.#staging.unfinished()) {
      if (isClosed()) return;
      const end = await this.#turns.take(id);
      try {
        while (!isClosed() && this.#staging.dropStaged(id)) await nextTurn();
      } finally {
        end();
      }
    }
  }

  async #write(
    projectId: string,
    datasetId: string,
    draft: VersionDraft,
    signal: AbortSignal | undefined,
  ): Promise<DatasetVersion> {
    await this.#dropStaged(datasetId);
    const dataset = this.#datasets.find(projectId, { id: datasetId });
    if (dataset === undefined) throw new DomainError('not_found', 'There is no dataset with this id');
    const newest = this.#datasets.version(datasetId, { number: dataset.last_version });
    requireBase(dataset, draft);
    // A merge that makes too many is refused as soon as no removal can make up for it.
    const room = draft.mode === 'merge' ? MAX_ROWS - (newest?.row_count ?? 0) + draft.remove.length : MAX_ROWS;
    const { changes, moved } = await this.#stage(dataset, draft, room);
    const columns =
      draft.mode === 'merge' ? [...new Set([...(newest?.columns ?? []), ...draft.columns])] : draft.columns;
    requireColumns(columns);
    const row_count = (newest?.row_count ?? 0) + changes.added - changes.removed;
    if (row_count > MAX_ROWS) throw tooManyRows();
    const isSame = !moved && Object.values(changes).every((rows: number) => rows === 0);
    if (newest !== undefined && isSame) return newest;
    const version: DatasetVersion = {
      ...changes,
      id: randomUUID(),
      dataset_id: datasetId,
      number: dataset.last_version + 1,
      message: draft.message,
      columns,
      row_count,
      created_at: Date.now() * 1000,
      created_by: draft.created_by,
    };
    signal?.throwIfAborted();
    this.#staging.publish(version);
    return version;
  }

  async #stage(
    { id, last_version }: Dataset,
    { rows, mode, remove }: VersionDraft,
    room: number,
  ): Promise<{ readonly changes: Changes; readonly moved: boolean }> {
    const number = last_version + 1;
    const keepsPlaces = mode === 'merge';
    let position = keepsPlaces ? this.#staging.lastPosition(id) : 0;
    let [added, changed, moved] = [0, 0, false];
    const ids = new Set<string>();
    for (const portion of portions(rows)) {
      this.#requireSpace();
      const staged = this.#staging.stage(id, number, portion, { after: position, keepsPlaces });
      position = staged.position;
      added += staged.added;
      if (added > room) throw tooManyRows();
      changed += staged.changed;
      moved ||= staged.moved;
      for (const { row_id } of portion) ids.add(row_id);
      await nextTurn();
    }
    const removed = keepsPlaces ? await this.#drop(id, number, remove) : await this.#dropOthers(id, number, ids);
    return { changes: { added, changed, removed }, moved };
  }

  async #drop(id: string, number: number, rowIds: readonly string[]): Promise<number> {
    let removed = 0;
    for (let from = 0; from < rowIds.length; from += AT_ONCE) {
      removed += this.#staging.drop(id, number, rowIds.slice(from, from + AT_ONCE));
      await nextTurn();
    }
    return removed;
  }

  /** Takes all rows from the next version that it does not name. */
  async #dropOthers(id: string, number: number, named: ReadonlySet<string>): Promise<number> {
    let removed = 0;
    for (let after = ''; ;) {
      const staying = this.#staging.staying(id, after, AT_ONCE);
      const last = staying.at(-1);
      if (last === undefined) return removed;
      removed += this.#staging.drop(
        id,
        number,
        staying.filter((rowId) => !named.has(rowId)),
      );
      after = last;
      await nextTurn();
    }
  }

  async #dropStaged(datasetId: string): Promise<void> {
    while (this.#staging.dropStaged(datasetId)) await nextTurn();
  }
}

/** @throws DomainError `too_large` */
export function requireColumns(columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS || columns.join('').length > MAX_COLUMN_CHARACTERS)
    throw new DomainError('too_large', `A dataset can have at most ${MAX_COLUMNS} columns`);
}

/** Rows in portions of so many, and of about so many bytes. */
function* portions(rows: readonly NewRow[]): Iterable<readonly NewRow[]> {
  for (let from = 0, to = 0; from < rows.length; from = to) {
    for (let bytes = 0; to < rows.length && to - from < AT_ONCE && bytes < BYTES_AT_ONCE; to += 1)
      bytes += rows[to]?.bytes ?? 0;
    yield rows.slice(from, to);
  }
}

function requireBase(dataset: Dataset, { baseVersion }: VersionDraft): void {
  const { last_version } = dataset;
  if (baseVersion !== null && baseVersion !== last_version)
    throw new DomainError(
      'conflict',
      `The newest version is ${last_version}, not ${baseVersion}: read it, and send your changes again`,
    );
  requireVersion(dataset);
}

/** @throws DomainError `conflict` where a dataset can have no further version */
export function requireVersion({ last_version }: Dataset): void {
  if (last_version >= MAX_DATASET_VERSIONS)
    throw new DomainError(
      'conflict',
      `A dataset can have at most ${MAX_DATASET_VERSIONS} versions: make another dataset`,
    );
}
