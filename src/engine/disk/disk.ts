/** What takes room on disks. `rollups` is everything in ClickHouse that is neither spans nor the words of their search index. */
export const STORED_KINDS = ['spans', 'rollups', 'words', 'attachments', 'sqlite'] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** Bytes of each kind, of all projects together. */
export type StoredBytes = Readonly<Record<StoredKind, number>>;

/** Room on a disk, in bytes. */
export interface DiskRoom {
  readonly free: number;
  readonly total: number;
}

/** A disk that data lies on, as it was seen last. */
export interface Disk extends DiskRoom {
  /** Such as `data`, for that of DATA_DIR. */
  readonly name: string;
  /** Bytes that are to stay free: with fewer, nothing more is taken in. 0: it may be filled. */
  readonly minFree: number;
  readonly holds: readonly StoredKind[];
}

/** What is stored, and the room that is left, at one moment. */
export interface StorageMeasurement {
  /** Microseconds since 1970. */
  readonly at: number;
  readonly stored: StoredBytes;
  readonly disks: readonly Disk[];
}
