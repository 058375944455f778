import { join } from 'node:path';
import type { IdentityService } from '../engine/identity/identity-service.js';
import { spanList, traceList } from '../engine/traces/model/list/definitions.js';
import { addressOf } from '../features/backup/store/open-place.js';
import { listColumns } from '../features/traces/row-pages.js';
import { ExportLoop, type ExportBucket } from '../features/scheduled-exports/export-loop.js';
import { ScheduleService } from '../features/scheduled-exports/schedule-service.js';
import { parseShown } from '../http/list-query.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

const LISTS = { spans: spanList, traces: traceList };

/** Goes on with scheduled exports, where the operator has set a bucket. */
export async function openScheduledExports(
  context: Context,
  { metadata, traces, watermark }: Storage,
  identity: Pick<IdentityService, 'isGone'>,
): Promise<ScheduleService> {
  const { config, events, governor, overrides, closers } = context;
  const { schedules: store } = metadata;
  if (config.exportTo === null) return new ScheduleService({ store, audit: events, wake: null });
  const loop = new ExportLoop({
    ...{ store, governor, changes: traces.changes, observer: events },
    bucket: await openBucket(context, config.exportTo),
    directory: join(config.dataDir, 'exports'),
    requireSpace: () => watermark.requireSpace(),
    isGone: (projectId) => identity.isGone(projectId),
    ...(overrides.exportedAtOnce !== undefined && { mostRows: overrides.exportedAtOnce }),
    read({ list, query: text }) {
      const query = parseShown(LISTS[list], new URLSearchParams(text));
      return { query, columns: listColumns(LISTS[list], query) };
    },
  });
  closers.push(() => loop.close());
  loop.wake();
  return new ScheduleService({ store, audit: events, wake: () => loop.wake() });
}

/** The S3 client is imported only here. */
async function openBucket({ config, closers }: Context, to: string): Promise<ExportBucket> {
  const address = addressOf(to);
  if (address.kind !== 'bucket') throw new Error('EXPORT_TO is a bucket, as the settings say');
  const { BucketPlace } = await import('../features/backup/store/bucket-place.js');
  const place = new BucketPlace(address, config.backup.s3);
  closers.push(() => place.close());
  return {
    async put(path, name, again) {
      if (again) await place.clear(name.slice(0, name.lastIndexOf('/')));
      await place.replace(path, name);
    },
  };
}
