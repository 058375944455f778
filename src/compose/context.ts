import type { Config } from '../config/config.js';
import type { DeletionStep } from '../features/deletion/deletion-work.js';
import { createLogger, type Logger } from '../engine/signals/logger.js';
import { createMetrics, type Metrics } from '../engine/signals/metrics.js';
import { createSignals, type Signals } from '../engine/signals/signals.js';
import type { Micros } from '../engine/timestamp.js';
import type { Retry } from '../engine/work/backoff.js';
import { Governor } from '../engine/work/governor.js';
import type { OpenTracing } from '../engine/signals/tracing.js';
import type { createImageFetcher } from '../features/images/store/image-fetcher.js';
import { packageVersion } from '../engine/files/schema-files.js';

/** Parts that a caller brings itself. */
export interface ServerOverrides {
  readonly logger?: Logger;
  /** The server cannot go on, for a reason that the error says. The caller ends it; default: it stops by itself. */
  readonly onFatal?: (error: Error) => void;
  /** Makes what fetches images from other hosts; tests let theirs ask this machine. */
  readonly createImageFetcher?: typeof createImageFetcher;
  /**
   * Waits between the attempts of an evaluation or a call; default as each says. Not a part: the feed, the runner and the
   * trials keep waits of their own, and a setting would be one that no operator needs.
   */
  readonly judgeRetry?: Retry;
  /** Clock by which months of budgets begin and end. Not a setting: tests need other months. */
  readonly budgetClock?: () => Micros;
  /**
   * Heap of each thread that reads bodies, from how many bytes on bodies are read there, and what each runs. Not settings: the first
   * follows from the largest body, the second from what messages to threads cost.
   */
  readonly bodyThreads?: { readonly heapMb?: number; readonly leastBytes?: number; readonly module?: URL };
  /** Clock of sign-ins, and how many attempts an address has. Not settings: both protect people who would never look for them. */
  readonly signIns?: { readonly now?: () => Micros; readonly attemptsPerMinute?: number };
  /**
   * Called before each step of a deletion; what it throws cuts the deletion off. Not a part: the steps lie in both stores,
   * on the disk and in memory, and between two of them there is nothing else to replace.
   */
  readonly onDeletionStep?: (step: DeletionStep) => void;
  /** How many objects a portion of a deletion by filters has. Not a setting: fewer only make it slower. */
  readonly deletedAtOnce?: number;
  /** How many rows an object of a scheduled export has at most, but for its last page. Not a setting, for the same reason. */
  readonly exportedAtOnce?: number;
}

/** Functions that close what is open, in the order of opening; called in the opposite order. */
export type Closers = (() => void | Promise<void>)[];

/** Configuration, log and events, which every part of the server is opened with. */
export interface Context {
  readonly config: Config;
  readonly overrides: ServerOverrides;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Signals;
  /** Is told what clients do, and asked by all that works beside them. */
  readonly governor: Governor;
  /** Undefined: the server does not trace itself. */
  readonly tracing: OpenTracing | undefined;
  /** Each part adds what closes it, as soon as there is something to close. */
  readonly closers: Closers;
  /** Base of the URLs handed out, without a slash at its end. Known once the server listens. */
  readonly baseUrl: () => string;
  readonly onFatal: (error: Error) => void;
}

export async function createContext(
  parts: Pick<Context, 'config' | 'overrides' | 'closers' | 'baseUrl'>,
  close: () => Promise<void>,
): Promise<Context> {
  const { config, overrides, closers } = parts;
  const log = overrides.logger ?? createLogger(config.log);
  const metrics = createMetrics();
  const signals = createSignals(log, metrics);
  const stop = () => {
    close().catch((error: unknown) => signals.notClosed({ error }));
  };
  const tracing = await openTracing(config, signals);
  // Closed last: what else is closed may be traced.
  if (tracing !== undefined) closers.push(() => tracing.close());
  closers.push(() => {
    signals.requestsEnded();
    signals.auditEnded();
  });
  const events = { ...signals, ...(tracing && { tracing }) };
  const governor = new Governor();
  return { ...parts, log, metrics, events, governor, tracing, onFatal: overrides.onFatal ?? stop };
}

/** Undefined: the server is not to be traced. OpenTelemetry is imported only here: a server without traces runs without it. */
async function openTracing({ tracing }: Config, signals: Signals): Promise<OpenTracing | undefined> {
  if (tracing === null) return undefined;
  signals.ownTracesBegin({ endpoint: tracing.endpoint });
  const { openOwnTraces } = await import('../engine/signals/own-traces/open.js');
  return openOwnTraces(tracing, packageVersion(), signals);
}

/** Calls every closer, also when one of them fails. @throws the first failure */
export async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
