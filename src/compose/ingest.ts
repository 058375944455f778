import { IngestService } from '../domain/ingest/ingest-service.js';
import type { PriceService } from '../domain/price/price-service.js';
import { RepriceService } from '../domain/price/reprice-service.js';
import { createExport, type ExportTraces } from '../transport/otlp/export.js';
import type { Attachments } from './attachments.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Ingest {
  readonly ingest: IngestService;
  /** Takes OpenTelemetry's spans, over HTTP and gRPC alike. */
  readonly exportTraces: ExportTraces;
  readonly reprices: RepriceService;
}

export interface IngestParts {
  readonly prices: PriceService;
  readonly attachments: Pick<Attachments, 'intake' | 'restated'>;
}

/** Opens what takes spans in, and goes on with pricing stored ones anew. */
export function openIngest(
  { config, events, closers }: Context,
  { metadata, traces }: Storage,
  { prices, attachments }: IngestParts,
): Ingest {
  const ingest = new IngestService({
    log: traces.log,
    lists: traces.lists,
    price: prices.price,
    attachments: attachments.intake,
    maxTagBytes: config.ingest.maxTagBytes,
    observer: events,
  });
  const { maxEncodedBytes } = config.ingest;
  const reprices = new RepriceService({
    store: metadata.reprices,
    spans: traces.calculated,
    price: prices.price,
    attachments: attachments.restated,
    observer: events,
    maxAttempts: config.jobs.maxAttempts,
  });
  closers.push(() => reprices.close());
  reprices.start();
  return { ingest, exportTraces: createExport({ ingest, observer: events, maxEncodedBytes }), reprices };
}
