import { createLogger } from '../../src/engine/signals/logger.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { createSignals, type Signals } from '../../src/engine/signals/signals.js';

/** Signals without a log, for what a test does not look at. */
export function quietSignals(metrics = createMetrics()): Signals {
  return createSignals(createLogger({ level: 'silent', format: 'json' }), metrics);
}
