import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { THREADS } from '../../src/engine/traces/clickhouse/process/threads.js';
import type { BareAnswer, BareFailure, BareRequest } from './bare-main.js';

/**
 * chDB in a process of its own, with the memory plan and settings of the server's engine but nothing in between: no
 * HTTP, no commit log, no lists. What the server is measured against.
 */
export interface BareEngine {
  readonly version: string;
  ask<R extends BareRequest>(request: R): Promise<BareAnswer<R>>;
  stop(): Promise<void>;
}

/** @param path the data directory of the engine (not of a server); made when absent. */
export async function startBareEngine(path: string): Promise<BareEngine> {
  const child = fork(new URL('./bare-main.js', import.meta.url), [path], {
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: String(THREADS) },
    execArgv: ['--max-old-space-size=8192'],
    serialization: 'advanced',
  });
  const engine = talkTo(child);
  const version = await engine.ask({ type: 'open' });
  return { version, ...engine };
}

function talkTo(child: ChildProcess): Omit<BareEngine, 'version'> {
  let waiting: { resolve(answer: unknown): void; reject(error: Error): void } | undefined;
  child.on('message', (message: { answer: unknown } | BareFailure) => {
    if ('failure' in message) waiting?.reject(new Error(message.failure));
    else waiting?.resolve(message.answer);
  });
  child.once('exit', (code, signal) => {
    waiting?.reject(new Error(`the bare engine ended (${signal ?? String(code)})`));
  });
  return {
    async ask<R extends BareRequest>(request: R) {
      const answer = new Promise((resolve, reject) => {
        waiting = { resolve, reject };
      });
      child.send(request);
      return (await answer) as BareAnswer<R>;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // Like the server's engine: closed in order, then ended without exit handlers, which can block for minutes.
      child.send({ type: 'close' } satisfies BareRequest);
      await once(child, 'exit');
    },
  };
}
