import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import type { OwnTracesObserver } from '../../engine/signals/own-traces/own-export.js';

/** Drops come in thousands a second; one line in this time says so. */
const SAID_FOR_MS = 60_000;

export function ownTracesEvents(logger: Logger, metrics: Metrics, endpoint: string): OwnTracesObserver {
  let away = false;
  let saidDropped = -Infinity;
  return {
    ownSpansSent({ count }) {
      metrics.ownSpans.inc({ result: 'sent' }, count);
      if (away) say(logger, 'ownTracesBack', { endpoint });
      away = false;
    },
    ownSpansFailed({ count, reason }) {
      metrics.ownSpans.inc({ result: 'failed' }, count);
      say(logger, 'ownTracesAway', { endpoint, reason, spans: count }, away);
      away = true;
    },
    ownSpansDropped({ count }) {
      metrics.ownSpans.inc({ result: 'dropped' }, count);
      if (performance.now() - saidDropped < SAID_FOR_MS) return;
      saidDropped = performance.now();
      say(logger, 'ownTracesDropped', { endpoint });
    },
  };
}
