import type { Readable } from 'node:stream';
import type { Content } from './hashed-copy.js';

/**
 * Where backups are kept: files by their names, which have slashes between their parts. A file is there as a whole or not
 * at all, also after a loss of power or a kill.
 * @throws DomainError where a bucket refuses or does not answer; what the operating system says where it is a folder
 */
export interface BackupPlace {
  /** As messages name it. */
  readonly address: string;
  /** How messages name a file. */
  where(name: string): string;
  /** Whether there is nothing, except for files whose names begin with that of one. */
  isEmpty(but: string): Promise<boolean>;
  /** Names of the files in a folder and its folders, without that of the folder, in their order. */
  list(folder: string): Promise<string[]>;
  /** Null: it is not there. */
  size(name: string): Promise<number | null>;
  /** Null: it is not there. */
  read(name: string): Promise<Readable | null>;
  write(name: string, text: string): Promise<void>;
  /** Takes in a local file under the name that its content gives it, unless that is there. */
  put(source: string, nameOf: (content: Content) => string): Promise<Content & { readonly isNew: boolean }>;
  remove(name: string): Promise<void>;
  /** Keeps others from writing. @throws DomainError `conflict` while someone else does */
  lock(): Promise<PlaceLock>;
  /** Removes what one who held the lock left half written in a folder. */
  clear(folder: string): Promise<void>;
  /** Brings the files of a folder to disk. */
  settle(folder: string): Promise<void>;
  close(): void;
}

export interface PlaceLock {
  /** @throws DomainError `conflict` when someone else has it by now */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

export type PlaceAddress =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string };
