import type { FileHandle } from 'node:fs/promises';
import type { LoggedColumns } from './segment.js';

/** Where a record lies. */
export interface Place {
  readonly segment: Segment;
  readonly offset: number;
  readonly length: number;
}

/** A file of the log. It goes once all of its records are stored elsewhere, and no more are written to it. */
export interface Segment {
  readonly name: string;
  readonly path: string;
  /** The version of its first record; Infinity: it has none. */
  first: number;
  /** Records that are not stored elsewhere yet. */
  waiting: number;
  sealed: boolean;
  /** Where what counts ends, once it is sealed. */
  end: number;
  readonly mark: Buffer;
  /** What its rows hold; null: it does not say. */
  readonly columns: LoggedColumns | null;
  /** What reads it, once something is read; closed when it goes. */
  reader?: Promise<FileHandle>;
}

/** Closes what reads a segment. */
export async function closeReader(segment: Segment): Promise<void> {
  const reader = segment.reader;
  delete segment.reader;
  await reader?.then((file) => file.close()).catch(() => undefined);
}

/** The most that the system takes in one call. */
const MAX_PIECES = 1024;

/** Writes pieces one behind the other, all of them. */
export async function writeAll(file: FileHandle, pieces: readonly Buffer[], position: number): Promise<void> {
  let at = position;
  let left = pieces.filter(({ length }) => length > 0);
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left.slice(0, MAX_PIECES), at);
    at += bytesWritten;
    let skipped = bytesWritten;
    left = left.flatMap((piece) => {
      const done = Math.min(skipped, piece.length);
      skipped -= done;
      return done === piece.length ? [] : [piece.subarray(done)];
    });
  }
}
