import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { openCore } from './engine-core.js';
import type { EngineCore } from './engine-core.js';
import { createFront } from './http-front.js';
import type { FromEngine, ToEngine } from './messages.js';

// The engine process: chDB behind ClickHouse's HTTP protocol. Started with `fork` and an `open` message; it owes its life
// to the process that started it.

/** The pause before the engine itself is asked for a sign of life again, and how long the answer may take. */
const PROBE_EVERY_MS = 1_000;
const PROBE_DEADLINE_MS = 10_000;

// Data, socket and whatever else the engine makes are the business of this user alone.
process.umask(0o077);

let core: EngineCore | undefined;
let front: Server | undefined;

function tell(message: FromEngine): void {
  if (process.connected) process.send?.(message);
}

/**
 * Ends the process without its exit handlers: those of the engine can block for minutes with the directory locked.
 * Nothing is lost by it, what was acknowledged is on disk.
 */
function end(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}

function fail(detail: string): void {
  if (!process.connected) end();
  process.send?.({ type: 'failed', detail } satisfies FromEngine, () => end());
}

async function open(message: Extract<ToEngine, { type: 'open' }>): Promise<void> {
  core = await openCore({ ...message, onBroken: fail });
  front = createFront(core, message);
  const server = front;
  // A socket here was left behind by a process that was killed: this one has locked the directory.
  rmSync(message.socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(message.socketPath, resolve);
  });
  tell({ type: 'opened', version: core.version, openedInMs: core.openedInMs });
  watch(core);
}

/** Finds a hang or crash inside the engine, which leaves this event loop alive, by a statement that does not come back. */
function watch(engine: EngineCore): void {
  const next = (): void => {
    const deadline = setTimeout(
      () => fail(`the engine has not answered SELECT 1 for ${PROBE_DEADLINE_MS} ms`),
      PROBE_DEADLINE_MS,
    );
    engine
      .probe()
      .then(() => setTimeout(next, PROBE_EVERY_MS))
      .catch((error: unknown) => fail(`the engine has died: ${String(error)}`))
      .finally(() => clearTimeout(deadline));
  };
  next();
}

async function stop(): Promise<void> {
  front?.close();
  await core?.close();
  if (!process.connected) end();
  process.send?.({ type: 'stopped' } satisfies FromEngine, () => end());
}

process.on('message', (message: ToEngine) => {
  if (message.type === 'beat') tell({ type: 'beat', beat: message.beat });
  else if (message.type === 'open')
    open(message).catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
  else stop().catch((error: unknown) => fail(String(error)));
});
// The parent is gone, even by kill -9: free the lock at once.
process.on('disconnect', () => end());
// A Ctrl-C in a terminal reaches the whole process group; when to stop is the parent's decision.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
