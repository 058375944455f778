import type { ReadEngineFigures } from '../../engine/signals/engine-metrics.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { milliseconds } from './milliseconds.js';

export interface EngineObserver {
  engineReady(engine: { readonly pid?: number; readonly seconds: number }): void;
  /** The engine crashed, hung or could not be reached; it is started again. */
  engineLost(loss: { readonly reason: string }): void;
  /** It did not start again; that is tried once more. */
  engineNotStarted(failure: { readonly reason: string }): void;
  engineStopped(): void;
  /** A line that the engine itself wrote. */
  engineSays(said: { readonly line: string }): void;
  /** A step of its supervisor. */
  engineNoted(note: Readonly<Record<string, unknown>>): void;
}

export interface TraceStoreObserver {
  /** @param store how ClickHouse is asked for its figures, and its limits; `memoryMaxBytes` null: not known */
  traceStoreOpened(store: {
    readonly figures: ReadEngineFigures;
    readonly queueMaxBytes: number;
    readonly logMaxBytes: number;
    readonly memoryMaxBytes: number | null;
  }): void;
}

/** Events of ClickHouse itself, and of its embedded engine. */
export interface EngineEvents extends EngineObserver, TraceStoreObserver {}

export function engineEvents(logger: Logger, metrics: Metrics): EngineEvents {
  return { ...processEvents(logger, metrics), ...traceStoreEvents(metrics) };
}

function processEvents(logger: Logger, metrics: Metrics): EngineObserver {
  return {
    engineReady({ pid, seconds }) {
      say(logger, 'engineReady', { pid, ms: milliseconds(seconds) });
    },
    engineLost({ reason }) {
      metrics.engineRestarts.inc();
      say(logger, 'engineLost', { reason });
    },
    engineNotStarted({ reason }) {
      metrics.engineRestarts.inc();
      say(logger, 'engineNotStarted', { reason });
    },
    engineStopped() {
      say(logger, 'engineStopped');
    },
    engineSays({ line }) {
      say(logger, 'engineSays', { line });
    },
    engineNoted(note) {
      say(logger, 'engineNote', { ...note });
    },
  };
}

function traceStoreEvents(metrics: Metrics): TraceStoreObserver {
  return {
    traceStoreOpened({ figures, queueMaxBytes, logMaxBytes, memoryMaxBytes }) {
      metrics.watchEngine(figures);
      metrics.commitQueueMaxBytes.set(queueMaxBytes);
      metrics.logMaxBytes.set(logMaxBytes);
      if (memoryMaxBytes === null) metrics.engineMemoryMaxBytes.remove();
      else metrics.engineMemoryMaxBytes.set(memoryMaxBytes);
    },
  };
}
