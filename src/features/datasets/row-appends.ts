import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { toJsonText } from '../../engine/json-text.js';
import {
  MAX_ROW_BYTES,
  type Dataset,
  type DatasetStore,
  type DatasetVersion,
  type NewRow,
  type RowReads,
  type RowSource,
  type RowStaging,
} from './dataset.js';
import { contentHash } from './files/row-set.js';
import { requireColumns, requireVersion, type VersionWriter } from './version-writer.js';

/** How long a version takes further rows, while no one reads the dataset. */
const OPEN_MS = 5_000;
/** Rows, and about how many bytes of them, that one transaction writes. */
const AT_ONCE = 100;
const BYTES_AT_ONCE = 512 * 1024;
/** Rows of a dataset that wait to be written. */
const MAX_WAITING = 1_000;

type Columns = Readonly<Record<string, unknown>>;

/** A row that a client sends by itself. */
export interface RowPut {
  readonly rowId: string;
  readonly source?: RowSource;
  /** What it is to say, by what it says. @param known null: there is no such row */
  readonly change: (known: Columns | null) => Columns;
}

interface Waiting {
  readonly put: RowPut;
  readonly by: string;
  readonly message: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** A version that no one has seen yet, which takes further rows. */
interface Open {
  readonly projectId: string;
  readonly by: string;
  readonly until: number;
  version: DatasetVersion;
}

export interface RowAppendsParts {
  readonly datasets: Pick<DatasetStore, 'find' | 'version'>;
  readonly rows: Pick<RowReads, 'named'>;
  readonly staging: Pick<RowStaging, 'put'>;
  readonly writer: Pick<VersionWriter, 'inTurn'>;
  /** @throws DomainError `unavailable` while there is too little room on the disks */
  readonly requireSpace: () => void;
}

/**
 * Takes rows that come one by one, as clients of other systems send them. Those that come together share a version: it stays open for
 * a while, until someone reads the dataset, so that no one ever sees it change.
 */
export class RowAppends {
  readonly #parts: RowAppendsParts;
  readonly #waiting = new Map<string, Waiting[]>();
  /** By dataset. */
  readonly #open = new Map<string, Open>();

  constructor(parts: RowAppendsParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the row is stored.
   * @throws DomainError `not_found`, `invalid`, `too_large`, `conflict`, `overloaded`, `unavailable`
   */
  put(
    projectId: string,
    datasetId: string,
    put: RowPut,
    { by, message }: Pick<Waiting, 'by' | 'message'>,
  ): Promise<void> {
    const queue = this.#waiting.get(datasetId) ?? [];
    if (queue.length >= MAX_WAITING)
      throw new DomainError('overloaded', 'Too many rows of this dataset are waiting to be stored. Retry.', {
        retryAfterSeconds: 1,
      });
    const done = new Promise<void>((resolve, reject) => queue.push({ put, by, message, resolve, reject }));
    if (!this.#waiting.has(datasetId)) {
      this.#waiting.set(datasetId, queue);
      void this.#drain(projectId, datasetId, queue);
    }
    return done;
  }

  /** Closes the newest version of a dataset: it is about to be read. */
  close(datasetId: string): void {
    this.#open.delete(datasetId);
  }

  /** The same for all datasets of a project. */
  closeAll(projectId: string): void {
    for (const [id, open] of this.#open) if (open.projectId === projectId) this.#open.delete(id);
  }

  async #drain(projectId: string, datasetId: string, queue: Waiting[]): Promise<void> {
    try {
      await this.#parts.writer.inTurn(datasetId, async () => {
        while (queue.length > 0) {
          this.#write(projectId, datasetId, queue.splice(0, AT_ONCE));
          await nextTurn();
        }
      });
    } catch (error) {
      for (const { reject } of queue.splice(0)) reject(error);
    } finally {
      this.#waiting.delete(datasetId);
    }
    // What came between the last look and now.
    if (queue.length > 0) {
      this.#waiting.set(datasetId, queue);
      void this.#drain(projectId, datasetId, queue);
    }
  }

  /** Writes rows, in several versions where they are of several people. */
  #write(projectId: string, datasetId: string, portion: readonly Waiting[]): void {
    for (let from = 0; from < portion.length;) {
      const { by = '' } = portion[from] ?? {};
      const other = portion.findIndex((waiting, index) => index > from && waiting.by !== by);
      const own = portion.slice(from, other === -1 ? undefined : other);
      from += this.#writeOwn(projectId, datasetId, own);
    }
  }

  /** Writes the first of some rows of one person. @returns how many are done: a refusal of one does not concern the others */
  #writeOwn(projectId: string, datasetId: string, own: readonly Waiting[]): number {
    const rows = new Map<string, NewRow>();
    const stored: Waiting[] = [];
    let bytes = 0;
    let done = 0;
    try {
      this.#parts.requireSpace();
      const dataset = this.#parts.datasets.find(projectId, { id: datasetId });
      if (dataset === undefined) throw new DomainError('not_found', 'The dataset was deleted in the meantime');
      for (const waiting of own) {
        if (bytes >= BYTES_AT_ONCE) break;
        done += 1;
        try {
          const row = this.#row(dataset, rows, waiting.put);
          rows.set(row.row_id, row);
          bytes += row.bytes;
          stored.push(waiting);
        } catch (error) {
          waiting.reject(error);
        }
      }
      if (rows.size > 0) this.#store(projectId, dataset, [...rows.values()], stored[0] as Waiting);
      for (const { resolve } of stored) resolve();
      return done;
    } catch (error) {
      const refused = done === 0 ? own : stored;
      for (const { reject } of refused) reject(error);
      return done === 0 ? own.length : done;
    }
  }

  #row({ id, last_version }: Dataset, rows: ReadonlyMap<string, NewRow>, { rowId, source, change }: RowPut): NewRow {
    const before = rows.get(rowId);
    const known = before?.content ?? this.#parts.rows.named(id, last_version, [rowId]).get(rowId);
    const data = change(known === undefined ? null : (JSON.parse(known) as Columns));
    const content = toJsonText(data);
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_ROW_BYTES)
      throw new DomainError('too_large', `A row can have at most ${MAX_ROW_BYTES} bytes as JSON`);
    const from = source ?? before?.source;
    return { row_id: rowId, content, bytes, hash: contentHash(data), ...(from !== undefined && { source: from }) };
  }

  #store(projectId: string, dataset: Dataset, rows: readonly NewRow[], { by, message }: Waiting): void {
    const { id, last_version } = dataset;
    const open = this.#openOf(dataset, by);
    const newest = open?.version ?? this.#parts.datasets.version(id, { number: last_version });
    const named = rows.flatMap(({ content }) => Object.keys(JSON.parse(content) as Columns));
    const columns = [...new Set([...(newest?.columns ?? []), ...named])];
    requireColumns(columns);
    if (open !== undefined) {
      open.version = this.#parts.staging.put({ ...open.version, columns }, rows, true) ?? open.version;
      return;
    }
    requireVersion(dataset);
    const now = Date.now();
    const draft: DatasetVersion = {
      ...{ id: randomUUID(), dataset_id: id, number: last_version + 1, message, columns },
      ...{ row_count: newest?.row_count ?? 0, added: 0, changed: 0, removed: 0 },
      ...{ created_at: now * 1000, created_by: by },
    };
    const version = this.#parts.staging.put(draft, rows, false);
    if (version === null) return;
    for (const [other, { until }] of this.#open) if (until <= now) this.#open.delete(other);
    this.#open.set(id, { projectId, by, until: now + OPEN_MS, version });
  }

  #openOf({ id, last_version }: Dataset, by: string): Open | undefined {
    const open = this.#open.get(id);
    const takesMore = open?.by === by && open.until > Date.now() && open.version.number === last_version;
    return takesMore ? open : undefined;
  }
}
