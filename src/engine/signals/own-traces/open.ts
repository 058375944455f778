import type { TracingConfig } from '../../../config/config.js';
import type { OwnTracesObserver } from './own-export.js';
import type { OpenTracing } from '../tracing.js';
import { OwnTraces } from './own-traces.js';
import { openSpanSender } from './span-sender.js';

/** Has the server trace itself. Whoever imports this file loads OpenTelemetry. */
export function openOwnTraces(config: TracingConfig, version: string, observer: OwnTracesObserver): OpenTracing {
  return new OwnTraces(openSpanSender(config, version, observer));
}
