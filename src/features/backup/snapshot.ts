import type { FrozenSpans } from '../../engine/traces/model/backup/frozen-spans.js';
import type { HeldImages } from '../images/attachment-store.js';

/** Everything that a server stores, as of one moment: paths on its machine, which stay until the snapshot ends. */
export interface Snapshot extends FrozenSpans {
  readonly takenAt: string;
  /** A copy of the SQLite file. */
  readonly metadata: string;
  /** Null: they are in a bucket. */
  readonly images: HeldImages | null;
}

/** A port of the stores: takes the moment, and ends what is held for it. */
export interface SnapshotSource {
  take(): Promise<Snapshot>;
  /** Gives back what the snapshot holds; repeated calls do nothing. */
  end(): Promise<void>;
}

/** The last backup in a place. */
export interface LastBackup {
  /** When it was taken; null: there is none, as far as is known. */
  readonly at: number | null;
  /** Backups that are dated ahead of the clock: when they were taken is not known. */
  readonly ahead: readonly string[];
}

/** The result of a backup, as its command reports it to the server. */
export type BackupResult =
  | {
      readonly done: true;
      readonly id: string;
      readonly spans: number;
      readonly bytes: number;
      /** Bytes that no earlier backup in the folder had. */
      readonly newBytes: number;
      readonly seconds: number;
    }
  | { readonly done: false; readonly reason: string }
  /** It was made, and then older ones were not removed that should have gone. */
  | { readonly notPruned: string };
