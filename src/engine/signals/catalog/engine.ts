import type { ReadEngineFigures } from '../metrics/engine-gauges.js';
import { catalogOf, measured, milliseconds, signal } from '../signal.js';

interface OpenedTraceStore {
  /** How ClickHouse is asked for its figures. */
  readonly figures: ReadEngineFigures;
  readonly queueMaxBytes: number;
  readonly logMaxBytes: number;
  /** Null: not known. */
  readonly memoryMaxBytes: number | null;
}

/** The embedded engine, and figures of any ClickHouse. */
export const engineCatalog = catalogOf({
  engineReady: signal<{ pid?: number; seconds: number }>({
    level: 'info',
    message: 'Embedded ClickHouse ready',
    when: 'At the start, and after each restart of the engine.',
    log: ({ pid, seconds }) => ({ pid, ms: milliseconds(seconds) }),
  }),
  engineLost: signal<{ reason: string }>({
    level: 'error',
    message: 'Embedded ClickHouse lost; restarting it',
    when: 'The engine process crashed, hung or was killed; `reason` says how. Reads get 503 until it is back, writes go to the write-ahead log; no acknowledged data is lost.',
    action:
      "Nothing if it recovers immediately. If it repeats, check the system's memory (dmesg names what it killed), ENGINE_MEMORY_MB, and the engine lines before this one",
    log: ({ reason }) => ({ reason }),
    count: ({ engineRestarts }) => engineRestarts.inc(),
  }),
  engineNotStarted: signal<{ reason: string }>({
    level: 'error',
    message: 'Embedded ClickHouse failed to start; retrying',
    when: 'A restart of the engine failed; the next attempt follows within 5 seconds.',
    action: 'Fix the reason: disk space, memory, permissions of DATA_DIR/clickhouse. Otherwise restart the server',
    log: ({ reason }) => ({ reason }),
    count: ({ engineRestarts }) => engineRestarts.inc(),
  }),
  engineStopped: signal({
    level: 'debug',
    message: 'Embedded ClickHouse stopped',
    when: 'When the server stops.',
  }),
  engineSays: signal<{ line: string }>({
    level: 'warn',
    message: 'ClickHouse output',
    when: 'The engine wrote to its standard output or error, usually its last words before a crash.',
    action: 'Read it with the engine line that follows; report it if the engine was lost for no other reason',
    log: ({ line }) => ({ line }),
  }),
  engineNote: signal<Readonly<Record<string, unknown>>>({
    level: 'debug',
    message: 'Embedded ClickHouse supervisor',
    when: 'Each step of starting and restarting the engine, as `what`.',
    log: (step) => step,
  }),
  traceStoreOpened: measured<OpenedTraceStore>((metrics, { figures, queueMaxBytes, logMaxBytes, memoryMaxBytes }) => {
    metrics.watchEngine(figures);
    metrics.commitQueueMaxBytes.set(queueMaxBytes);
    metrics.logMaxBytes.set(logMaxBytes);
    if (memoryMaxBytes === null) metrics.engineMemoryMaxBytes.remove();
    else metrics.engineMemoryMaxBytes.set(memoryMaxBytes);
  }),
});
