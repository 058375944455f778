import type { AttachmentObserver } from '../../domain/attachment/vault.js';
import type { FeedbackObserver } from '../../domain/feedback/feedback-service.js';
import type { IngestObserver } from '../../domain/ingest/ingest-service.js';
import type { PromptObserver } from '../../domain/prompt/prompt-service.js';
import type { LinkObserver } from '../../domain/review/link-service.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';

/** Events of requests by clients: spans, images, prompts and feedback. */
export interface ClientEvents
  extends IngestObserver, AttachmentObserver, PromptObserver, FeedbackObserver, LinkObserver {}

export function clientEvents(logger: Logger, metrics: Metrics): ClientEvents {
  return {
    ...ingestEvents(logger, metrics),
    ...attachmentEvents(logger, metrics),
    ...promptEvents(metrics),
    ...feedbackEvents(metrics),
    ...linkEvents(logger),
  };
}

function ingestEvents(logger: Logger, metrics: Metrics): IngestObserver {
  return {
    spansAccepted({ source, count }) {
      metrics.spansAccepted.inc({ source }, count);
    },
    spansRejected({ source, reason, count }) {
      metrics.spansRejected.inc({ source, reason }, count);
      logger.debug('Spans rejected', { source, reason, count });
    },
  };
}

function attachmentEvents(logger: Logger, metrics: Metrics): AttachmentObserver {
  return {
    attachmentStored({ bytes }) {
      metrics.attachmentsStored.inc();
      metrics.attachmentBytesStored.inc(bytes);
    },
    attachmentServed({ bytes }) {
      metrics.attachmentsServed.inc();
      metrics.attachmentBytesServed.inc(bytes);
    },
    attachmentsRemoved({ count }) {
      metrics.attachmentsRemoved.inc(count);
      logger.info('Images of deleted spans removed', { count });
    },
    attachmentSweepFailed({ error }) {
      logger.warn('Images could not be cleaned up; it will be tried again', { error });
    },
    attachmentNotFetched({ host, reason }) {
      logger.info('Image not fetched; its URL is kept as a reference', { host, reason });
    },
  };
}

function promptEvents(metrics: Metrics): PromptObserver {
  return {
    promptFetched({ result }) {
      metrics.promptFetches.inc({ result });
    },
  };
}

function feedbackEvents(metrics: Metrics): FeedbackObserver {
  return {
    feedbackAccepted({ source, thumbsUp }) {
      metrics.feedbackAccepted.inc({ source, thumb: thumbsUp ? 'up' : 'down' });
    },
  };
}

function linkEvents(logger: Logger): LinkObserver {
  let isSaid = false;
  return {
    linkOpensHereOnly(link) {
      const level = isSaid ? 'debug' : 'warn';
      isSaid = true;
      logger[level](
        'A feedback link opens on this machine only: set PUBLIC_URL to the address of the server for others',
        {
          ...link,
        },
      );
    },
  };
}
