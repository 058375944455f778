import { CompletionLog } from '../features/completions/completion-log.js';
import type { Maskers } from '../features/masking/maskers.js';
import { CallBackfill } from '../features/backfill/call-backfill.js';
import { PartialIngest } from '../features/traces/partial-ingest.js';
import { PostedIngest } from '../features/traces/posted-ingest.js';
import { SpanIngest, type SpanIngestParts } from '../features/traces/span-ingest.js';
import { JobRunner } from '../engine/work/job-runner.js';
import type { PriceService } from '../features/prices/price-service.js';
import { REPRICE } from '../features/prices/reprice-job.js';
import { RepriceService } from '../features/prices/reprice-service.js';
import { repriceWork } from '../features/prices/reprice-work.js';
import { keepIn } from '../features/scores/span-scores.js';
import { createPostSpans } from '../features/traces/http/post-spans.js';
import { parseAndFree } from '../http/wire/json.js';
import { createExport } from '../otlp/export.js';
import type { Attachments } from './attachments.js';
import { openBodyThreads, type BodyDoors } from './body-threads.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Ingest extends BodyDoors {
  /** Takes spans in that are no request's, and those of requests as `postSpans` does. */
  readonly spans: SpanIngest;
  /** Takes in spans that are sent in parts. */
  readonly partial: PartialIngest;
  readonly posted: PostedIngest;
  readonly reprices: RepriceService;
  readonly completionLog: CompletionLog;
}

export interface IngestParts {
  readonly prices: PriceService;
  readonly maskers: Maskers;
  readonly attachments: Pick<Attachments, 'intake' | 'restated'>;
}

/** Opens what takes spans in, and goes on with pricing stored ones anew. */
export function openIngest(context: Context, storage: Storage, { prices, maskers, attachments }: IngestParts): Ingest {
  const { config, events } = context;
  const { traces } = storage;
  const { maxEncodedBytes, maxTagBytes } = config.ingest;
  const countsModels = config.projectSeries > 0;
  const keep = keepIn(storage.metadata.scoreDefinitions);
  const parts: SpanIngestParts = {
    log: traces.log,
    price: prices.price,
    prompts: storage.metadata.promptIdentities,
    attachments: attachments.intake,
    scores: { definitions: storage.metadata.scoreDefinitions, keep },
    masker: maskers.of,
    maxTagBytes,
    countsModels,
    observer: events,
  };
  const spans = new SpanIngest(parts);
  const inline = {
    postSpans: createPostSpans(spans, parseAndFree),
    exportTraces: createExport({ ingest: spans, observer: events, maxEncodedBytes, maxTagBytes, parse: parseAndFree }),
  };
  openBackfill(context, storage, attachments.restated);
  return {
    spans,
    ...openBodyThreads(context, { log: traces.log, keepDefinitions: keep, maskingVersion: maskers.versionOf }, inline),
    partial: new PartialIngest({
      spans: traces.partial,
      log: traces.log,
      masker: maskers.of,
      ingest: (log, stored) =>
        new SpanIngest({ ...parts, log, masker: () => null, attachments: attachments.intake.of(stored) }),
    }),
    posted: new PostedIngest({ log: traces.log, lists: traces.lists, masker: maskers.of, maxTagBytes }),
    completionLog: new CompletionLog({
      promptIds: storage.metadata.promptIdentities,
      ingest: spans,
      masker: maskers.of,
      spans: traces.calculated,
      sources: { price: prices.price, prompts: storage.metadata.promptIdentities },
      restated: attachments.restated,
    }),
    reprices: openReprices(context, storage, { prices, attachments }),
  };
}

/** Goes on with filling in the columns of spans from before there were these columns. */
function openBackfill(
  { events, governor, closers }: Context,
  { metadata, traces }: Storage,
  restated: IngestParts['attachments']['restated'],
): void {
  const backfill = new CallBackfill({
    spans: traces.older,
    prompts: metadata.promptIdentities,
    attachments: restated,
    governor,
    observer: events,
  });
  closers.push(() => backfill.close());
  backfill.start();
}

/** Goes on with the recalculations of costs that are not finished: one page at a time, of each project in turn. */
function openReprices(
  { config, events, closers }: Context,
  { metadata: { jobs }, traces, audit }: Storage,
  { prices, attachments }: Pick<IngestParts, 'prices' | 'attachments'>,
): RepriceService {
  const limits = { atOnce: 1, ofProject: 1, maxAttempts: config.jobs.maxAttempts };
  // Beside the runner of what asks models: neither keeps the other waiting.
  const runner = new JobRunner({ store: jobs, observer: events, limits });
  const { price, modelName } = prices;
  const parts = { spans: traces.calculated, price, modelName, attachments: attachments.restated, observer: events };
  runner.register(REPRICE, repriceWork(parts));
  closers.push(() => runner.close());
  runner.start();
  return new RepriceService({ jobs, runner, audit });
}
