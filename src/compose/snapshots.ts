import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Snapshot, SnapshotSource } from '../features/backup/snapshot.js';
import { DomainError } from '../engine/errors.js';
import { FileAttachmentStore } from '../features/images/store/file-store.js';
import { MetadataSnapshot } from '../engine/metadata/metadata-snapshot.js';
import { metadataFile } from './metadata-store.js';
import { clearFrozen, clearSnapshots, COPIES } from './clear-snapshots.js';
import { ENGINE_DIRECTORY } from './directories.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

const NAME = 'backup';
/** How often a moment is taken again because a project was deleted in it. */
const ATTEMPTS = 5;

/** Both stores and the images as of one moment, one snapshot at a time. */
export class Snapshots implements SnapshotSource {
  readonly #context: Context;
  readonly #storage: Storage;
  #held: Promise<Snapshot> | null = null;
  #ending: Promise<void> = Promise.resolve();

  constructor(context: Context, storage: Storage) {
    this.#context = context;
    this.#storage = storage;
  }

  /** @throws DomainError `conflict` while another one is held, or where spans lie in a ClickHouse of the operator's */
  async take(): Promise<Snapshot> {
    const { config, events } = this.#context;
    if (config.clickhouse.url !== null)
      throw new DomainError(
        'conflict',
        'The spans of this server are in the ClickHouse at CLICKHOUSE_URL: back up that database with its own BACKUP ' +
          'statement, and DATA_DIR too; see "Back up and restore" in the manual',
      );
    if (this.#held !== null) throw new DomainError('conflict', 'Another backup is in progress: wait until it finishes');
    const started = performance.now();
    const held = this.#ending.then(() => this.#take());
    this.#held = held;
    try {
      const snapshot = await held;
      events.snapshotTaken({ heldMs: snapshot.heldMs, seconds: (performance.now() - started) / 1000 });
      return snapshot;
    } catch (error) {
      if (this.#held === held) await this.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#ending = Promise.allSettled([held]).then(() => this.#end());
    await this.#ending;
  }

  async #take(): Promise<Snapshot> {
    const { dataDir } = this.#context.config;
    const { images } = this.#storage;
    // What is left of one that could not be ended.
    await clearSnapshots(dataDir);
    const held = images instanceof FileAttachmentStore ? await images.hold() : null;
    const copies = join(dataDir, COPIES);
    await mkdir(copies, { mode: 0o700 });
    const metadata = new MetadataSnapshot(metadataFile(dataDir));
    try {
      const spans = await this.#moment(metadata);
      const copy = join(copies, 'spanhouse.sqlite');
      await metadata.writeTo(copy);
      return { ...spans, metadata: copy, images: held };
    } finally {
      metadata.close();
    }
  }

  /**
   * Takes the moment. The removal of a project goes through both stores without a commit, so where one was ordered
   * meanwhile, the metadata knows nothing of what the spans have lost: then the moment is taken again.
   */
  async #moment(metadata: MetadataSnapshot) {
    const { dataDir } = this.#context.config;
    const { traces, metadata: live } = this.#storage;
    const projects = () => {
      const going = new Set(
        live.deletions.pending().flatMap(({ what, project_id }) => (what === 'project' ? project_id : [])),
      );
      return live.identities.listProjects().flatMap(({ id }) => (going.has(id) ? [] : id));
    };
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      let before: readonly string[] = [];
      let takenAt = '';
      const spans = await traces.snapshots.take(NAME, join(dataDir, ENGINE_DIRECTORY), () => {
        metadata.pin();
        before = projects();
        takenAt = new Date().toISOString();
      });
      const still = new Set(projects());
      if (before.every((id) => still.has(id))) return { ...spans, takenAt };
      metadata.unpin();
      await clearFrozen(dataDir);
    }
    throw new DomainError('unavailable', 'Several projects are being deleted: retry later');
  }

  async #end(): Promise<void> {
    const { images } = this.#storage;
    try {
      if (images instanceof FileAttachmentStore) await images.release();
      await clearSnapshots(this.#context.config.dataDir);
    } catch (error) {
      this.#context.events.snapshotNotEnded({ error });
    }
  }
}
