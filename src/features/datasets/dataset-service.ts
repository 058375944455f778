import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { UUID } from '../../engine/schema/ids.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { AuditChange, AuditEvent } from '../../engine/signals/catalog/audit.js';
import type { Signals } from '../../engine/signals/signals.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { invalid } from '../../engine/validation/validation.js';
import {
  LATEST,
  MAX_DATASETS,
  PAGE_BYTES,
  type Between,
  type Dataset,
  type DatasetPatch,
  type DatasetRow,
  type DatasetStore,
  type DatasetVersion,
  type ListedVersion,
  type NewRow,
  type PlacedId,
  type RowOrigin,
  type RowPlace,
  type RowReads,
  type RowStaging,
} from './dataset.js';
import { unpacked } from './files/row-set.js';
import type { ReadUpload, UploadTask } from './files/read-upload.js';
import type { DatasetInput, UploadFormat } from './schema.js';
import { DatasetTags } from './dataset-tags.js';
import { diffVersions, type VersionDiff } from './version-diff.js';
import { RowAppends, type RowPut } from './row-appends.js';
import { RowRemoval } from './row-removal.js';
import { VersionWriter } from './version-writer.js';

/** Rows, and about how many bytes of them, that are read together where all are. */
const ROWS_AT_ONCE = 500;
const WALK_BYTES = 1024 * 1024;
/** Ids of rows that are read together. */
const IDS_AT_ONCE = 2_000;
/** Uploads at once: what they hold in memory is bounded for each. */
const UPLOADS = { atOnce: 3, perParty: 1, maxWaiting: 32, maxWaitMs: 60_000 };

/** Reads uploads: large ones, and Parquet, elsewhere than in the thread that serves requests. @throws DomainError */
export type ReadUploads = (projectId: string, task: UploadTask) => Promise<ReadUpload>;

export interface DatasetServiceParts {
  readonly datasets: DatasetStore;
  readonly rows: RowReads;
  readonly staging: RowStaging;
  readonly readUpload: ReadUploads;
  /** @throws DomainError `unavailable` while there is too little room on the disks */
  readonly requireSpace: () => void;
  readonly observer: Pick<Signals, 'datasetRowsNotRemoved'>;
  readonly audit: AuditLog;
}

/** A version, by its dataset's id and its number. */
export interface VersionPlace {
  readonly id: string;
  readonly number: number;
}

/** A body with rows. */
export interface Upload {
  readonly format: UploadFormat;
  /** Or what makes them once the upload has its turn: what is compressed becomes many times as large. */
  readonly bytes: Buffer | (() => Promise<Buffer>);
  /** What is said of files, whose bodies have nothing but rows. */
  readonly mode: 'replace' | 'merge';
  readonly message: string;
}

/** Datasets: rows in versions that never change, and tags that point at these. Everything is inside the caller's project. */
export class DatasetService {
  readonly #parts: DatasetServiceParts;
  readonly #writer: VersionWriter;
  readonly #appends: RowAppends;
  readonly #uploads = new FairSemaphore('uploads', UPLOADS);
  /** Names that point at versions. */
  readonly tags: DatasetTags;
  readonly removal: RowRemoval;

  constructor(parts: DatasetServiceParts) {
    this.#parts = parts;
    this.#writer = new VersionWriter(parts);
    this.#appends = new RowAppends({ ...parts, writer: this.#writer });
    this.tags = new DatasetTags(parts.datasets, this);
    this.removal = new RowRemoval({ ...parts, writer: this.#writer });
  }

  /** @throws DomainError `invalid`; `conflict` when the name is taken or there are too many */
  create(by: Principal, { name, slug, description, roles }: DatasetInput): Dataset {
    const { project_id, user_id } = by;
    const named = name ?? slug;
    if (named == null) throw invalid([{ pointer: '/name', detail: 'is required' }]);
    const { datasets, audit } = this.#parts;
    if (datasets.count(project_id, '') >= MAX_DATASETS)
      throw new DomainError('conflict', `A project can have at most ${MAX_DATASETS} datasets: delete one first`);
    const draft = { name: named, description: description ?? '', roles: roles ?? {} };
    return audit.together(() => {
      const created = datasets.create(project_id, { ...draft, created_at: Date.now() * 1000, created_by: user_id });
      if (created === undefined) throw taken(named);
      this.#tell('datasetMade', by, created);
      return created;
    });
  }

  /** @param name or id, behind the id of the project, which some clients put before it @throws DomainError `not_found` */
  find(projectId: string, name: string): Dataset {
    return this.lookUp(projectId, name) ?? noDataset();
  }

  /** As {@link find}; undefined: there is none. */
  lookUp(projectId: string, name: string): Dataset | undefined {
    const found = this.#named(projectId, name);
    if (found !== undefined) this.#appends.close(found.id);
    return found;
  }

  #named(projectId: string, name: string): Dataset | undefined {
    const own = name.startsWith(`${projectId}/`) ? name.slice(projectId.length + 1) : name;
    return this.#parts.datasets.find(projectId, UUID.test(own) ? { id: own } : { name: own });
  }

  list(projectId: string, q: string, window: Window): { readonly datasets: Dataset[]; readonly total: number } {
    const { datasets } = this.#parts;
    this.closeVersions(projectId);
    return { datasets: datasets.list(projectId, q, window), total: datasets.count(projectId, q) };
  }

  /** @throws DomainError `not_found`, `conflict` */
  change(by: Principal, name: string, patch: DatasetPatch): Dataset {
    const { datasets, audit } = this.#parts;
    const before = this.find(by.project_id, name);
    return audit.together(() => {
      if (!datasets.change(before.id, patch, Date.now() * 1000)) throw taken(patch.name ?? '');
      const after = this.find(by.project_id, before.id);
      this.#tell('datasetChanged', by, after, changesBetween(before, after, ['name', 'description', 'roles']));
      return after;
    });
  }

  #tell(event: AuditEvent, by: Principal, { id, name }: Dataset, changes: readonly AuditChange[] = []): void {
    const about = { project_id: by.project_id, subject_id: id, subject_name: name };
    this.#parts.audit.done({ event, by, ...about, changes });
  }

  /** Deletes a dataset with all its versions; its rows are removed after the response. @throws DomainError `not_found` */
  remove(by: Principal, name: string): void {
    const { datasets, audit } = this.#parts;
    const dataset = this.find(by.project_id, name);
    audit.together(() => {
      datasets.remove(dataset.id, Date.now() * 1000);
      this.#tell('datasetDeleted', by, dataset);
    });
    this.removal.removeDeleted();
  }

  /** @throws DomainError what reading and writing throw; no version is made then */
  async upload({ project_id, user_id }: Principal, name: string, upload: Upload): Promise<DatasetVersion> {
    const { id } = this.find(project_id, name);
    this.#parts.requireSpace();
    const end = await this.#uploads.take(project_id);
    try {
      return await this.#upload(project_id, user_id, id, upload);
    } finally {
      end();
    }
  }

  async #upload(project_id: string, user_id: string, id: string, upload: Upload): Promise<DatasetVersion> {
    const { format } = upload;
    const bytes = typeof upload.bytes === 'function' ? await upload.bytes() : upload.bytes;
    const { options, rows } = await this.#parts.readUpload(project_id, { datasetId: id, format, bytes });
    const mode = options.mode ?? upload.mode;
    if (mode === 'replace' && options.remove != null)
      throw invalid([
        { pointer: '/remove', detail: 'needs mode `merge`: a version that replaces all rows has only those given' },
      ]);
    return this.#writer.write(project_id, id, {
      rows: unpacked(rows),
      columns: rows.columns,
      mode,
      remove: [...new Set(options.remove ?? [])],
      message: options.message ?? upload.message,
      created_by: user_id,
      baseVersion: options.base_version ?? null,
    });
  }

  /** Merges rows into a dataset, as a version. @throws DomainError as {@link VersionWriter.write} */
  merge(
    { project_id, user_id }: Principal,
    { id }: Dataset,
    {
      rows,
      columns,
      message,
    }: { readonly rows: readonly NewRow[]; readonly columns: readonly string[]; readonly message: string },
    signal: AbortSignal,
  ): Promise<DatasetVersion> {
    const draft = {
      rows,
      columns,
      message,
      mode: 'merge',
      remove: [],
      created_by: user_id,
      baseVersion: null,
    } as const;
    return this.#writer.write(project_id, id, draft, signal);
  }

  /**
   * Stores a row that comes by itself, in a version that it may share with others which come before anybody reads the dataset.
   * @throws DomainError `not_found`, `too_large`, `conflict`, `overloaded`, `unavailable`
   */
  async put({ project_id, user_id }: Principal, name: string, put: RowPut, message: string): Promise<Dataset> {
    const dataset = this.#named(project_id, name) ?? noDataset();
    await this.#appends.put(project_id, dataset.id, put, { by: user_id, message });
    return dataset;
  }

  /** Versions that still take rows take none anymore: datasets of the project are about to be read. */
  closeVersions(projectId: string): void {
    this.#appends.closeAll(projectId);
  }

  /** Datasets whose newest version has a row with this id: at most so many. Who reads the row finds the dataset again. */
  holding(projectId: string, rowId: string, limit: number): Dataset[] {
    return this.#parts.datasets.holding(projectId, rowId, limit);
  }

  /** Where some rows of a version come from, by their ids. */
  origins({ id, number }: VersionPlace, rowIds: readonly string[]): ReadonlyMap<string, RowOrigin> {
    return this.#parts.rows.origins(id, number, rowIds);
  }

  /** The newest version that there was at a time. @throws DomainError `not_found` */
  versionAt({ id }: Dataset, at: Micros): DatasetVersion {
    const found = this.#parts.datasets.versionAt(id, at);
    if (found === undefined) throw new DomainError('not_found', 'The dataset had no version then');
    return found;
  }

  /** Whether the newest version has a row with this id, or another one with the same content. */
  holds({ id, last_version: number }: Dataset, row: NewRow): 'id' | 'content' | null {
    if (this.#parts.staging.has(id, row.row_id)) return 'id';
    return this.#parts.rows.hasOther(id, number, row) ? 'content' : null;
  }

  /** The newest version; null: there is none yet. */
  newest({ id, last_version: number }: Dataset): DatasetVersion | null {
    return this.#parts.datasets.version(id, { number }) ?? null;
  }

  /** Newest first. @throws DomainError `not_found` */
  versions(projectId: string, name: string, window: Window): ListedVersion[] {
    return this.#parts.datasets.versions(this.find(projectId, name).id, window);
  }

  /**
   * A version by its number, id or a tag; `latest`, and `main` as some clients call it, is the newest.
   * @throws DomainError `not_found`
   */
  version(dataset: Dataset, ref: string): DatasetVersion {
    const { datasets } = this.#parts;
    const { id, last_version } = dataset;
    const isNewest = ref === LATEST || ref === 'main';
    const number = isNewest ? last_version : /^[0-9]{1,9}$/.test(ref) ? Number(ref) : datasets.tag(id, ref);
    const found = datasets.version(id, UUID.test(ref) ? { id: ref } : { number: number ?? 0 });
    if (found === undefined)
      throw new DomainError(
        'not_found',
        isNewest ? 'The dataset has no version yet' : `The dataset has no version, and no tag, ${ref}`,
      );
    return found;
  }

  /** A page of rows, and how many there are. */
  rows(
    { dataset_id: id, number, row_count }: DatasetVersion,
    window: Window,
  ): { readonly rows: DatasetRow[]; readonly total: number } {
    const { rows } = this.#parts;
    return { rows: rows.page(id, number, window, PAGE_BYTES), total: row_count - rows.countErased(id, number) };
  }

  /** Ids of all rows behind a place, or of all, in their order, in portions. */
  *rowIds(
    { id, number }: VersionPlace,
    behind: RowPlace = { position: 0, seq: 0 },
    atOnce = IDS_AT_ONCE,
  ): Iterable<readonly PlacedId[]> {
    for (let after = behind; ;) {
      const portion = this.#parts.rows.ids(id, number, after, atOnce);
      const last = portion.at(-1);
      if (last === undefined) return;
      yield portion;
      after = last;
    }
  }

  /** How many bytes rows have, by their ids, where they are there. */
  rowSizes({ id, number }: VersionPlace, rowIds: readonly string[]): ReadonlyMap<string, number> {
    return this.#parts.rows.sizes(id, number, rowIds);
  }

  /** Rows as JSON objects, by their ids, where they are there. */
  namedRows({ id, number }: VersionPlace, rowIds: readonly string[]): ReadonlyMap<string, string> {
    return this.#parts.rows.named(id, number, rowIds);
  }

  /** All rows. @throws DomainError `not_found` at the end, where the dataset was deleted meanwhile: then some are missing */
  *allRows(projectId: string, { dataset_id: id, number }: DatasetVersion): Iterable<DatasetRow> {
    for (let after: RowPlace = { position: 0, seq: 0 }; ;) {
      const page = this.#parts.rows.walk(id, number, after, { limit: ROWS_AT_ONCE, bytes: WALK_BYTES });
      yield* page;
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.place;
    }
    this.find(projectId, id);
  }

  /** How two versions differ. */
  diff({ id }: Dataset, versions: Between, window: Window, signal: AbortSignal): Promise<VersionDiff> {
    return diffVersions(this.#parts.rows, id, versions, window, signal);
  }
}

function noDataset(): never {
  throw new DomainError('not_found', 'There is no dataset with this name or id');
}

const taken = (name: string) => new DomainError('conflict', `There is a dataset named ${JSON.stringify(name)} already`);
