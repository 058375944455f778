import { join } from 'node:path';
import { StorageMeasurements } from '../engine/disk/storage-measurements.js';
import type { ClickHouseClient } from '../engine/traces/clickhouse/client/client.js';
import { serverRoomReader } from '../engine/traces/span-bytes.js';
import { bytesOf, diskRoom, onDifferentDisks, type DataFolder } from '../engine/disk/disk-room.js';
import { DiskWatermark, IN_CLICKHOUSE, type WatchedDisk } from '../engine/disk/disk-watermark.js';
import { metadataFile, type MetadataStore } from './metadata-store.js';
import type { TraceStore } from '../engine/traces/trace-store.js';
import type { Context } from './context.js';
import { ENGINE_DIRECTORY, IMAGES_DIRECTORY } from './directories.js';

/** Images that were counted are counted again after this time: each is looked at. */
const IMAGES_FOR_MS = 60_000;

/** Watches the disks that data lies on. @param client of a ClickHouse elsewhere; null: it is embedded */
export async function openWatermark(context: Context, client: ClickHouseClient | null): Promise<DiskWatermark> {
  const { config, events, closers } = context;
  const watched: WatchedDisk[] = onDifferentDisks(localFolders(context)).map(({ path, ...disk }) => ({
    ...disk,
    room: () => diskRoom(path),
  }));
  if (client !== null) watched.push({ name: 'clickhouse', holds: IN_CLICKHOUSE, room: serverRoomReader(client) });
  const watermark = await DiskWatermark.open({
    disks: watched,
    minFreeBytes: config.minFreeDiskBytes,
    observer: events,
  });
  closers.push(() => watermark.close());
  return watermark;
}

function localFolders({ config: { dataDir, clickhouse, attachments } }: Context): DataFolder[] {
  const folders: DataFolder[] = [{ name: 'data', path: dataDir, holds: ['sqlite'] }];
  if (clickhouse.url === null)
    folders.push({ name: 'clickhouse', path: join(dataDir, ENGINE_DIRECTORY), holds: IN_CLICKHOUSE });
  if (attachments.s3 === null)
    folders.push({ name: 'attachments', path: join(dataDir, IMAGES_DIRECTORY), holds: ['attachments'] });
  return folders;
}

interface Measured {
  readonly metadata: Pick<MetadataStore, 'attachments' | 'measurements'>;
  readonly traces: Pick<TraceStore, 'spanBytes'>;
  readonly watermark: DiskWatermark;
}

/** Measures what is stored, and by that how long the disks last. */
export function openMeasurements(context: Context, { metadata, traces, watermark }: Measured): StorageMeasurements {
  const { config, events, closers } = context;
  const file = metadataFile(config.dataDir);
  const images = forAWhile(() => metadata.attachments.allBytes(), IMAGES_FOR_MS);
  const measurements = new StorageMeasurements({
    store: metadata.measurements,
    stored: async (signal) => ({
      ...(await traces.spanBytes.ofAll(signal)),
      attachments: images(),
      sqlite: bytesOf([file, `${file}-wal`]),
    }),
    disks: () => watermark.disks,
    onFailure: (error) => events.storageNotMeasured({ error }),
  });
  closers.push(() => measurements.close());
  measurements.start();
  return measurements;
}

function forAWhile(read: () => number, ms: number): () => number {
  let known = { value: 0, until: -Infinity };
  return () => {
    const now = performance.now();
    if (now >= known.until) known = { value: read(), until: now + ms };
    return known.value;
  };
}
