import type { AttachmentObserver } from '../../features/images/vault.js';
import type { FeedbackObserver } from '../../features/feedback/feedback-service.js';
import type { IngestObserver } from '../../features/traces/span-ingest.js';
import type { PromptObserver } from '../../features/prompts/prompt-service.js';
import type { LinkObserver } from '../../features/review/link-service.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';

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
    spansAccepted({ source, count, cost }) {
      metrics.spansAccepted.inc({ source }, count);
      metrics.spanCost.inc({ source }, cost);
    },
    spansRejected({ source, reason, count }) {
      metrics.spansRejected.inc({ source, reason }, count);
      say(logger, 'spansRejected', { source, reason, count });
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
      say(logger, 'attachmentsRemoved', { count });
    },
    attachmentSweepFailed({ error }) {
      say(logger, 'attachmentSweepFailed', { error });
    },
    attachmentNotFetched({ host, reason }) {
      say(logger, 'attachmentNotFetched', { host, reason });
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
      say(logger, 'linkOpensHereOnly', { ...link }, isSaid);
      isSaid = true;
    },
  };
}
