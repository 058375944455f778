import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { Audit, Extent } from '../engine/traces/model/check/audit.js';
import { check, type CheckParts, type CheckReport } from '../features/check/checker.js';
import { ImageAudit } from '../features/images/image-audit.js';
import { createLogger } from '../engine/signals/logger.js';
import { imageFiles } from '../features/images/store/image-files.js';
import { FileAttachmentStore } from '../features/images/store/file-store.js';
import { spanAudits } from '../engine/traces/check/span-audits.js';
import { storedSpanIds } from '../engine/traces/check/stored-span-ids.js';
import { requireApplied } from '../engine/traces/migrations.js';
import { spanNotes } from '../engine/traces/check/notes.js';
import { DataDirAudit } from '../features/check/store/data-dir-audit.js';
import { openCheckedMetadata, type CheckedMetadata } from './checked-metadata.js';
import { openAttachments } from './attachments.js';
import { openToRead } from './check-stores.js';
import { closeAll, createContext, type Closers } from './context.js';
import { openDeletions } from './deletion.js';
import { IMAGES_DIRECTORY } from './directories.js';
import { openStorage } from './storage.js';

export interface CheckRun {
  readonly config: Config;
  readonly extent: Extent;
  readonly onAudit: CheckParts['onAudit'];
}

export interface CheckOutcome extends CheckReport {
  /** Whether a server runs on the data. */
  readonly running: boolean;
  /** What is not wrong, and worth knowing. */
  readonly notes: readonly string[];
}

/** The names of what lies in a `DATA_DIR`. */
const KNOWN_FILES = [
  /^log$/,
  /^spanhouse\.(sqlite(-wal|-shm|-journal)?|sqlite\.before-\d{4}(\.part)?|lock(-journal)?|pid)$/,
  /^(control\.(sock|path)|move\.json(\.new)?|clickhouse\.lease|clickhouse|attachments|snapshot|restore-unfinished|lost\+found)$/,
];

/**
 * Audits a `DATA_DIR` without changing it, whether a server runs on it or not.
 * @throws DomainError, MigrationError, SqliteError: it could not be checked
 */
export async function checkData({ config, extent, onAudit }: CheckRun): Promise<CheckOutcome> {
  const closers: Closers = [];
  try {
    const { client, images, files, settle } = await openToRead(config, closers);
    const metadata = openMetadata(config, closers);
    await requireApplied(client);
    const audits = [
      ...filesAndMetadata(config, metadata, extent),
      ...(await spanAudits(client, { extent, stopped: settle === null, isKnown: metadata.isKnown })),
      metadata.records(extent, (project, ids) => storedSpanIds(client, project, ids)),
      new ImageAudit({ rows: metadata.images, store: images, files, extent }),
    ];
    const gentle = settle === null ? { pauses: false } : { pauses: true, settle };
    const report = await check({ audits, ...gentle, repair: false, onAudit });
    return { ...report, running: settle !== null, notes: await spanNotes(client, settle === null) };
  } finally {
    await closeAll(closers);
  }
}

/**
 * Opens the stores as the start of a server does, which recovers what a crash left, and repairs what audits find.
 * @throws DataDirLockedError while a server runs; else as {@link checkData}, and what opening stores throws
 */
export async function repairData({ config, extent, onAudit }: CheckRun): Promise<CheckOutcome> {
  const closers: Closers = [];
  const close = () => closeAll(closers);
  const logger = createLogger({ level: 'silent', format: 'json' });
  const untraced = { ...config, tracing: null };
  try {
    const context = await createContext({ config: untraced, overrides: { logger }, closers, baseUrl: () => '' }, close);
    const storage = await openStorage(context, {
      isGone: () => false,
      onPurged: (versions) => attachments.purged(versions),
    });
    const attachments = openAttachments(context, storage);
    await openDeletions(context, storage, { images: attachments.vault, onProjectOrdered: () => undefined });
    const { traces, images } = storage;
    const metadata = openMetadata(config, closers);
    const audits = [
      ...filesAndMetadata(config, metadata, extent),
      ...(await traces.mendingAudits({ extent, isKnown: metadata.isKnown })),
      metadata.records(extent, (project, ids) => traces.storedIds(project, ids)),
      new ImageAudit({
        rows: metadata.images,
        store: images,
        files: images instanceof FileAttachmentStore ? imageFiles(join(config.dataDir, IMAGES_DIRECTORY)) : null,
        extent,
        remove: (unreferenced) => attachments.vault.removeUnreferenced(unreferenced),
      }),
    ];
    const settle = async () => {
      await traces.rollUp();
    };
    const report = await check({ audits, pauses: false, settle, repair: true, onAudit });
    return { ...report, running: false, notes: [] };
  } finally {
    await close();
  }
}

function openMetadata({ dataDir }: Config, closers: Closers): CheckedMetadata {
  const metadata = openCheckedMetadata(dataDir);
  closers.push(() => metadata.close());
  return metadata;
}

function filesAndMetadata({ dataDir }: Config, metadata: CheckedMetadata, extent: Extent): Audit[] {
  return [new DataDirAudit(dataDir, KNOWN_FILES), metadata.file, metadata.datasets(extent)];
}
