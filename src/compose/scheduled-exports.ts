import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { Followed } from '../engine/traces/model/list/changes.js';
import { listDefinitions } from '../engine/traces/model/list/definitions.js';
import type { TraceStore } from '../engine/traces/trace-store.js';
import { addressOf } from '../features/backup/store/open-place.js';
import { listColumns } from '../features/traces/row-pages.js';
import { ExportLoop, type ExportBucket } from '../features/scheduled-exports/export-loop.js';
import { ScheduleService } from '../features/scheduled-exports/schedule-service.js';
import type { ExportSource } from '../features/scheduled-exports/object-file.js';
import type { Schedule } from '../features/scheduled-exports/schedule.js';
import { QUERIES } from '../features/scheduled-exports/http/queries.js';
import { columnsOf } from '../features/exports/exported-rows.js';
import type { FeedbackLists } from '../features/feedback/feedback-lists.js';
import { AuthoredFeedbackRead } from '../features/feedback/list-schema.js';
import { authoredFeedbackRead } from '../features/feedback/http/presenters.js';
import { ScoreRead } from '../features/scores/schema.js';
import { toScoreRead } from '../features/scores/http/presenters.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** Continues with scheduled exports, where the operator has set a bucket. */
export function openScheduledExports(
  context: Context,
  { metadata, traces, watermark, audit }: Storage,
  identity: Pick<IdentityService, 'isGone'>,
  feedback: FeedbackChanges,
): ScheduleService {
  const { config, events, governor, overrides, closers } = context;
  const { schedules: store } = metadata;
  if (config.exportTo === null) return new ScheduleService({ store, audit, wake: null });
  const loop = new ExportLoop({
    ...{ store, governor, observer: events },
    bucket: openBucket(context, config.exportTo),
    directory: join(config.dataDir, 'exports'),
    requireSpace: () => watermark.requireSpace(),
    isGone: (projectId) => identity.isGone(projectId),
    ...(overrides.exportedAtOnce !== undefined && { mostRows: overrides.exportedAtOnce }),
    sourceOf: (schedule) => sourceOf(schedule, traces, feedback),
  });
  closers.push(() => loop.close());
  loop.wake();
  return new ScheduleService({ store, audit, wake: () => loop.wake() });
}

type FeedbackChanges = Pick<FeedbackLists, 'version' | 'changed'>;

/** What a schedule exports, in the form that clients read. @throws DomainError `invalid` */
function sourceOf(schedule: Schedule, traces: TraceStore, feedback: FeedbackChanges): ExportSource {
  switch (schedule.list) {
    case 'scores':
      return scoreSource(schedule, traces);
    case 'feedback':
      return feedbackSource(schedule, feedback);
    default:
      return listSource(schedule, schedule.list, traces);
  }
}

function listSource(
  { project_id: projectId, query: text }: Schedule,
  list: Followed,
  { changes }: TraceStore,
): ExportSource {
  const asked = QUERIES[list](text);
  const columns = listColumns(listDefinitions[list], asked);
  const of = { projectId, list, query: { ...asked, fields: columns.map(([name]) => name) } };
  return {
    columns,
    now: () => changes.now(),
    page: (from, upTo, signal) => changes.page(of, from, upTo, signal),
    settled: (ids, after, signal) => changes.settled(of, ids, after, signal),
  };
}

function scoreSource({ project_id: projectId, query: text }: Schedule, { scoreChanges }: TraceStore): ExportSource {
  const anyOrder = { sort: 'created_at', descending: true, limit: 1, offset: 0, count: false } as const;
  const query = { ...QUERIES.scores(text), ...anyOrder };
  return {
    columns: columnsOf(ScoreRead),
    now: () => scoreChanges.now(),
    async page(from, upTo, signal) {
      const { scores, next } = await scoreChanges.page(projectId, query, from, upTo, signal);
      return { rows: scores.map((score) => JSON.stringify(toScoreRead(score))), next, leftOut: [] };
    },
  };
}

function feedbackSource({ project_id: projectId, query: text }: Schedule, feedback: FeedbackChanges): ExportSource {
  const query = QUERIES.feedback(text);
  return {
    columns: columnsOf(AuthoredFeedbackRead),
    now: () => feedback.version(),
    async page({ after, width }, upTo) {
      const { items, to } = feedback.changed(projectId, query, after, upTo);
      await nextTurn();
      return {
        rows: items.map((item) => JSON.stringify(authoredFeedbackRead(item))),
        next: { after: to, width },
        leftOut: [],
      };
    },
  };
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
