import { DomainError } from '../../engine/errors.js';
import { UUID } from '../../engine/schema/ids.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';

/** What a column is for. */
export const ROLES = ['input', 'expected', 'metadata', 'split'] as const;
export type Role = (typeof ROLES)[number];

/** Most datasets of a project. */
export const MAX_DATASETS = 1_000;
/** Most rows of a version. */
export const MAX_ROWS = 100_000;
/** Most bytes of a row as JSON. */
export const MAX_ROW_BYTES = 1024 * 1024;
/** Most bytes of a dataset in all its versions: each different content, and {@link ROW_OVERHEAD_BYTES} for each row that a version stores again. */
export const MAX_DATASET_BYTES = 2 * 1024 ** 3;
/** About how many bytes of rows a page has at most. */
export const PAGE_BYTES = 8 * 1024 * 1024;
export const MAX_COLUMNS = 1_000;
/** Most characters of the names of all columns together: each version and list has them. */
export const MAX_COLUMN_CHARACTERS = 20_000;
/** What a stored row counts beside its content: what it takes on the disk, and that reads pass it. */
export const ROW_OVERHEAD_BYTES = 1_024;
/** Most versions of a dataset. */
export const MAX_DATASET_VERSIONS = 100_000;
/** The tag that follows the newest version. */
export const LATEST = 'latest';

export const tooManyRows = () => new DomainError('too_large', `A version can have at most ${MAX_ROWS} rows`);

/** Whether a text names a version by itself, so that no tag can be called so. */
export function isReservedTag(tag: string): boolean {
  return tag === LATEST || tag === 'main' || /^[0-9]+$/.test(tag) || UUID.test(tag);
}

export interface Dataset {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** By column. */
  readonly roles: Readonly<Record<string, Role>>;
  /** Number of the newest version; 0: there is none yet. */
  readonly last_version: number;
  /** Of all versions: each different content, and what each stored row takes. */
  readonly bytes: number;
  readonly created_at: Micros;
  readonly updated_at: Micros;
}

/** How a version differs from the one before. */
export interface Changes {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export interface DatasetVersion extends Changes {
  readonly id: string;
  readonly dataset_id: string;
  /** From 1 on, without gaps. */
  readonly number: number;
  readonly message: string;
  /** Names of columns, in their order. */
  readonly columns: readonly string[];
  readonly row_count: number;
  readonly created_at: Micros;
  readonly created_by: string;
}

/** A version, and the name of the user who made it. */
export interface ListedVersion extends DatasetVersion {
  readonly created_by_name: string;
}

/** The span that a row was made of. */
export interface RowSource {
  readonly trace_id: string;
  readonly span_id: string;
}

/** A row that is to be stored. */
export interface NewRow {
  readonly row_id: string;
  /** A JSON object, by column. */
  readonly content: string;
  /** Of the content. */
  readonly bytes: number;
  /** SHA-256 of the JSON with its members sorted. */
  readonly hash: Buffer;
  readonly source?: RowSource & {
    /** The number of the last deletion when the span was read: one that was ordered since means the row, too. Absent: the last. */
    readonly after_deletion?: number;
  };
}

/** A row of a version. */
export interface DatasetRow {
  readonly row_id: string;
  /** A JSON object, by column. */
  readonly content: string;
  readonly source: RowSource | null;
}

/** Where a row comes from, and since when it says what it says. */
export interface RowOrigin {
  readonly source: RowSource | null;
  readonly changed_at: Micros;
}

/** Where a row stands in the order of its dataset. */
export interface RowPlace {
  readonly position: number;
  readonly seq: number;
}

export interface WalkedRow extends DatasetRow {
  readonly place: RowPlace;
}

/** The id of a row, and its place. */
export interface PlacedId extends RowPlace {
  readonly row_id: string;
}

/** Numbers of two versions. */
export interface Between {
  readonly from: number;
  readonly to: number;
}

/** What two versions have of a row: null where it is not there. */
export interface RowState {
  readonly row_id: string;
  readonly before: { readonly content: number | null } | null;
  readonly after: { readonly content: number | null } | null;
}

/** A row that differs between two versions. */
export interface RowChange {
  readonly row_id: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** JSON objects; null: there was none, or it was erased. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface DatasetTag {
  readonly tag: string;
  readonly version_number: number;
}

export interface DatasetTagMove {
  /** Null: the tag was removed. */
  readonly version_number: number | null;
  readonly at: Micros;
  readonly by: { readonly id: string; readonly name: string };
}

export type DatasetDraft = Pick<Dataset, 'name' | 'description' | 'roles' | 'created_at'> & {
  readonly created_by: string;
};
export type DatasetPatch = Partial<Pick<Dataset, 'name' | 'description' | 'roles'>>;

/**
 * Datasets, their versions and tags.
 * @throws DomainError `unavailable` when the store does not answer; nothing is written then
 */
export interface DatasetStore {
  /** @returns undefined: the name is taken */
  create(projectId: string, draft: DatasetDraft): Dataset | undefined;
  find(projectId: string, by: { readonly name: string } | { readonly id: string }): Dataset | undefined;
  /** Datasets whose newest version has a row with this id. */
  holding(projectId: string, rowId: string, limit: number): Dataset[];
  /** By name. @param q text that names contain, whatever its case */
  list(projectId: string, q: string, window: Window): Dataset[];
  count(projectId: string, q: string): number;
  /** @returns false: the name is taken */
  change(id: string, patch: DatasetPatch, at: Micros): boolean;
  /** Hides a dataset for good; its rows are removed by {@link RowStaging.removeSome}. */
  remove(id: string, at: Micros): void;
  version(datasetId: string, by: { readonly number: number } | { readonly id: string }): DatasetVersion | undefined;
  /** The newest version that there was at a time. */
  versionAt(datasetId: string, at: Micros): DatasetVersion | undefined;
  /** Newest first. */
  versions(datasetId: string, window: Window): ListedVersion[];
  /** By name; without `latest`. */
  tags(datasetId: string): DatasetTag[];
  tag(datasetId: string, tag: string): number | undefined;
  countTags(datasetId: string): number;
  /** @param number null: removes the tag */
  moveTag(datasetId: string, tag: string, number: number | null, at: Micros, by: string): void;
  /** Newest first. */
  tagMoves(datasetId: string, tag: string, window: Window): DatasetTagMove[];
}

/** Where staged rows stand. */
export interface Places {
  /** The position behind which rows get theirs. */
  readonly after: number;
  /** Whether rows that are there stay where they are. */
  readonly keepsPlaces: boolean;
}

/** What a portion of rows did. */
export interface Staged {
  readonly added: number;
  readonly changed: number;
  /** Whether a row that stays as it is has another place. */
  readonly moved: boolean;
  /** The position of the last row. */
  readonly position: number;
}

/**
 * Makes versions, in portions that no one sees before the version is published, so that no portion keeps others for more than some
 * milliseconds.
 * @throws DomainError `unavailable`; `not_found` where the dataset is gone; `conflict` where another version was made
 */
export interface RowStaging {
  /** Ids of datasets with rows of a version that never was published. */
  unfinished(): string[];
  /** Removes what was staged for a version that never was published. @returns whether there may be more */
  dropStaged(datasetId: string): boolean;
  /**
   * Stages rows of the next version, in their order.
   * @throws DomainError `too_large` when the dataset would have too many bytes
   */
  stage(datasetId: string, number: number, rows: readonly NewRow[], places: Places): Staged;
  /** Ids of rows of the newest version that the next one still has, behind one of them, in the order of ids. */
  staying(datasetId: string, after: string, limit: number): string[];
  /** Takes rows from the next version. @returns how many there were */
  drop(datasetId: string, number: number, rowIds: readonly string[]): number;
  /** Whether the newest version has a row with this id. */
  has(datasetId: string, rowId: string): boolean;
  /** The highest position of the newest version. */
  lastPosition(datasetId: string): number;
  publish(version: DatasetVersion): void;
  /**
   * Makes a few rows say something, in the next version, or in the newest where that is open.
   * @param version as it is without the rows
   * @returns null: they say that already, and no version is made
   * @throws DomainError `too_large`
   */
  put(version: DatasetVersion, rows: readonly NewRow[], isOpen: boolean): DatasetVersion | null;
  /** Removes a portion of a dataset that is to go. @returns whether there may be more */
  removeSome(): boolean;
}

/** Rows of versions. @throws DomainError `unavailable` */
export interface RowReads {
  /** Rows of a version in their order, of about so many bytes at most; one at least, where there is any. */
  page(datasetId: string, number: number, window: Window, bytes: number): DatasetRow[];
  /** The same, behind a place, which stays what it is when rows are erased. */
  walk(datasetId: string, number: number, after: RowPlace, most: { limit: number; bytes: number }): WalkedRow[];
  /** Ids of rows of a version behind a place, in their order; without erased ones, as a page has them. */
  ids(datasetId: string, number: number, after: RowPlace, limit: number): PlacedId[];
  /** How many bytes some rows of a version have, by their ids; without erased ones, and those that are not there. */
  sizes(datasetId: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, number>;
  /** Some rows of a version as JSON objects, by their ids. */
  named(datasetId: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, string>;
  /** Where some rows of a version come from, by their ids. */
  origins(datasetId: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, RowOrigin>;
  /** Whether another row of a version has the same content. */
  hasOther(datasetId: string, number: number, row: Pick<NewRow, 'row_id' | 'hash'>): boolean;
  /** How many rows of a version were erased. */
  countErased(datasetId: string, number: number): number;
  /** The next row ids behind one, in their order, with what two versions have of each. Empty: there are no more. */
  states(datasetId: string, versions: Between, after: string, limit: number): RowState[];
  /** The same of rows by their ids; those that there never were are left out. */
  statesOf(datasetId: string, versions: Between, rowIds: readonly string[]): RowState[];
  /** What rows say, by the number of their content. */
  contents(numbers: readonly number[]): ReadonlyMap<number, string>;
}
