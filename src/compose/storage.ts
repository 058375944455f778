import { join } from 'node:path';
import { AuditTrail } from '../features/audit/audit-trail.js';
import type { AttachmentStore } from '../features/images/attachment-store.js';
import { placeName } from '../features/move/move.js';
import { ProjectStorage } from '../features/projects/project-storage.js';
import { FileAttachmentStore } from '../features/images/store/file-store.js';
import type { ClickHouseEndpoint } from '../engine/traces/clickhouse/client/endpoint.js';
import type { TraceStore } from '../engine/traces/trace-store.js';
import type { DiskWatermark } from '../engine/disk/disk-watermark.js';
import { lockDataDir } from '../engine/metadata/data-dir-lock.js';
import { openMetadataStore, type MetadataStore } from './metadata-store.js';
import { requirePlace } from '../features/move/store/move-mark.js';
import { requireRestored } from '../features/backup/store/restore-mark.js';
import { openTraces, type TraceFollowers } from './clickhouse.js';
import { placeOf } from './place.js';
import type { Context } from './context.js';
import { clearSnapshots } from './clear-snapshots.js';
import { openMeasurements } from './disks.js';
import { IMAGES_DIRECTORY } from './directories.js';

/** Where everything is kept. */
export interface Storage {
  readonly metadata: MetadataStore;
  readonly audit: AuditTrail;
  /** The bytes of images. */
  readonly images: AttachmentStore;
  readonly traces: TraceStore;
  /** Where ClickHouse answers. */
  readonly endpoint: ClickHouseEndpoint;
  readonly watermark: DiskWatermark;
}

/**
 * Takes the data directory and opens the stores.
 * @throws DataDirLockedError, MigrationError, EngineLockedError, ExternalServerError, LeaseError, DomainError
 */
export async function openStorage(context: Context, followers: TraceFollowers): Promise<Storage> {
  const { config, closers } = context;
  const lock = lockDataDir(config.dataDir);
  closers.push(() => lock.release());
  requireRestored(config.dataDir);
  const move = requirePlace(config.dataDir, placeOf(config));
  if (move?.done_at === null) context.events.moveUnfinished({ to: placeName(move.to), since: move.begun_at });
  await clearSnapshots(config.dataDir);
  const metadata = openMetadataStore(config.dataDir, context.events);
  closers.push(() => metadata.close());
  const audit = new AuditTrail({
    store: metadata.audit,
    tell: (record) => context.events.done(record),
    self: 'server',
  });
  const images = await openImages(context);
  return { metadata, audit, images, ...(await openTraces(context, followers)) };
}

/** What is stored of projects, and the room that is left. */
export function openProjectStorage(context: Context, storage: Storage): ProjectStorage {
  const { metadata, traces } = storage;
  return new ProjectStorage({
    lists: traces.lists,
    spanBytes: (projectId, signal) => traces.spanBytes.ofProject(projectId, signal),
    images: (projectId) => metadata.attachments.kept(projectId),
    measurements: openMeasurements(context, storage),
    embedded: context.config.clickhouse.url === null,
  });
}

/** The S3 client is imported only here: a server without a bucket starts without it. */
export async function openImages({ config, closers }: Pick<Context, 'config' | 'closers'>): Promise<AttachmentStore> {
  if (config.attachments.s3 === null) return FileAttachmentStore.open(join(config.dataDir, IMAGES_DIRECTORY));
  const { S3AttachmentStore } = await import('../features/images/store/s3-store.js');
  const store = new S3AttachmentStore(config.attachments.s3);
  closers.push(() => store.close());
  return store;
}
