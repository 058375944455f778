import type { IngestObserver, IngestService } from '../../domain/ingest/ingest-service.js';
import type { OtlpTraces } from './model.js';
import type { PartialSuccess } from './response.js';
import { toSpans, type Rejected } from './span.js';

/**
 * Stores what one export request holds, whichever way it came. Resolves once the usable spans are durable, with what
 * to say of the others; null when there are none.
 * @throws DomainError `too_large`, and those of the write log: then nothing was acknowledged
 */
export type ExportTraces = (projectId: string, traces: OtlpTraces) => Promise<PartialSuccess | null>;

export interface ExportParts {
  readonly ingest: Pick<IngestService, 'storeSpans'>;
  readonly observer: Pick<IngestObserver, 'spansRejected'>;
}

export function createExport({ ingest, observer }: ExportParts): ExportTraces {
  return async (projectId, traces) => {
    const { spans, rejected } = toSpans(traces);
    await ingest.storeSpans(projectId, 'otlp', spans);
    // Only now: a request that is refused as a whole comes again, with the same bad spans.
    if (rejected.count === 0) return null;
    observer.spansRejected({ source: 'otlp', reason: 'invalid', count: rejected.count });
    return { rejectedSpans: rejected.count, errorMessage: explain(rejected) };
  };
}

function explain({ count, messages }: Rejected): string {
  const more = count - messages.length;
  return [...messages, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
