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
export function openScheduledExports(
  context: Context,
  { metadata, traces, watermark, audit }: Storage,
  identity: Pick<IdentityService, 'isGone'>,
): ScheduleService {
  const { config, events, governor, overrides, closers } = context;
  const { schedules: store } = metadata;
  if (config.exportTo === null) return new ScheduleService({ store, audit, wake: null });
  const loop = new ExportLoop({
    ...{ store, governor, changes: traces.changes, observer: events },
    bucket: openBucket(context, config.exportTo),
    directory: join(config.dataDir, 'exports'),
    requireSpace: () => watermark.requireSpace(),
    isGone: (projectId) => identity.isGone(projectId),
    ...(overrides.exportedAtOnce !== undefined && { mostRows: overrides.exportedAtOnce }),
    read({ list, query: text }) {
      const query = parseShown(LISTS[list], new URLSearchParams(text));
      const columns = listColumns(LISTS[list], query);
      return { query: { ...query, fields: columns.map(([name]) => name) }, columns };
    },
  });
  closers.push(() => loop.close());
  loop.wake();
  return new ScheduleService({ store, audit, wake: () => loop.wake() });
}

/** The S3 client is imported only here, for the first object. */
function openBucket({ config, closers }: Context, to: string): ExportBucket {
  const address = addressOf(to);
  if (address.kind !== 'bucket') throw new Error('EXPORT_TO is a bucket, as the settings say');
  const open = async () => {
    const { BucketPlace } = await import('../features/backup/store/bucket-place.js');
    const place = new BucketPlace(address, config.backup.s3);
    closers.push(() => place.close());
    return place;
  };
  let opened: ReturnType<typeof open> | undefined;
  return {
    async put(path, name, again) {
      const place = await (opened ??= open());
      if (again) await place.clear(name.slice(0, name.lastIndexOf('/')));
      await place.replace(path, name);
    },
  };
}
