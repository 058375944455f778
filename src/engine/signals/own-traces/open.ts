import type { TracingConfig } from '../../../config/config.js';
import type { OpenTracing } from '../tracing.js';
import { OwnTraces } from './own-traces.js';
import { openSpanSender } from './span-sender.js';
import type { Signals } from '../signals.js';

/** Has the server trace itself. Importing this file loads OpenTelemetry. */
export function openOwnTraces(config: TracingConfig, version: string, observer: Signals): OpenTracing {
  return new OwnTraces(openSpanSender(config, version, observer));
}
