import { DomainError } from '../../../errors.js';
import type { ClickHouseEndpoint } from '../client/endpoint.js';

export type { ClickHouseEndpoint } from '../client/endpoint.js';

export type EngineState = 'starting' | 'ready' | 'failed' | 'stopped';

export interface EngineChange {
  /** Of the process that is ready. */
  readonly pid?: number | undefined;
  /** Why the process ended, or does not start; empty otherwise. */
  readonly reason: string;
}

export interface EngineLogger {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export interface EngineOptions {
  /** Data directory; created when missing. */
  readonly path: string;
  /** Name of the Atomic database; created when missing. */
  readonly database: string;
  /** Cap of the engine's memory, caches included. */
  readonly memoryMb: number;
  /** Time limit of every read; a request may lower it. */
  readonly maxReadSeconds: number;
  readonly logger: EngineLogger;
  /** Called at every change of state. */
  onState?(state: EngineState, change: EngineChange): void;
  /** A first callback for `onReady` of the engine, in time for the first start. */
  onReady?(endpoint: ClickHouseEndpoint): Promise<void>;
  /** How long opening the data may take; default 60 s. */
  readonly startDeadlineMs?: number;
}

/** Another process has the data directory open. */
export class EngineLockedError extends DomainError {
  readonly path: string;

  constructor(path: string) {
    super(
      'unavailable',
      `another process is already using the data directory ${path}: stop it first, or set another DATA_DIR`,
    );
    this.name = 'EngineLockedError';
    this.path = path;
  }
}
