import type { Signals } from '../engine/signals/signals.js';
import type { EngineLogger, EngineOptions, EngineState } from '../engine/traces/clickhouse/process/engine.js';

/** Steps of the supervisor are for debugging, as its states tell of what matters; what the engine itself writes is not. */
export function engineLogger(events: Signals): EngineLogger {
  const note = (step: string, fields?: object) => events.engineNote({ step, ...fields });
  return {
    info: note,
    error: note,
    warn: (step, fields) => {
      if (fields !== undefined && 'line' in fields) events.engineSays({ line: String(fields.line) });
      else note(step, fields);
    },
  };
}

/** Tells of changes after the first start, whose failure ends the server with a message. */
export function engineStates(events: Signals): NonNullable<EngineOptions['onState']> {
  let since = performance.now();
  let state: EngineState = 'starting';
  let wasReady = false;
  return (next, { pid, reason }) => {
    if (next === 'ready')
      events.engineReady({ seconds: (performance.now() - since) / 1000, ...(pid === undefined ? {} : { pid }) });
    else if (next === 'stopped') events.engineStopped();
    else if (next === 'failed' && wasReady) events.engineNotStarted({ reason });
    else if (state === 'ready') events.engineLost({ reason });
    if (state === 'ready') since = performance.now();
    wasReady ||= next === 'ready';
    state = next;
  };
}
