import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClickHouseEndpoint } from '../../../src/engine/traces/clickhouse/client/endpoint.js';
import type { FromEngine, ToEngine } from '../../../src/engine/traces/clickhouse/process/messages.js';
import { startEngine } from '../../../src/engine/traces/clickhouse/process/supervisor.js';
import { privateSocket } from '../../../src/engine/files/private-socket.js';
import { THREADS } from '../../../src/engine/traces/clickhouse/process/threads.js';

/** A ClickHouse to run a contract against. */
export interface TestEngine {
  readonly endpoint: ClickHouseEndpoint;
  stop(): Promise<void>;
}

export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const LIMITS = { database: 'house', memoryMb: 1024, maxReadSeconds: 20 };

/** A port of this machine that leads to a Unix socket. */
async function openPort(socketPath: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const engine = connect(socketPath);
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A data directory with characters that mean something to SQL and to file patterns, removed by `remove`. */
export async function scratch(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "span house's {a,b}*[1]é-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The embedded engine as the server runs it. */
export async function supervised(): Promise<TestEngine> {
  const { path, remove } = await scratch();
  const engine = await startEngine({ ...LIMITS, path, logger: silent });
  const port = await openPort(engine.endpoint.socketPath ?? '');
  return {
    // The library knows no sockets; the server's own client goes by the socket.
    endpoint: { ...engine.endpoint, url: port.url },
    stop: async () => {
      await engine.stop();
      await port.close();
      await remove();
    },
  };
}

/** A ClickHouse known by its address alone: the engine process with nobody over it. */
export async function addressed(): Promise<TestEngine> {
  const { path, remove } = await scratch();
  const process = fork(new URL('../../../src/engine/traces/clickhouse/process/process.js', import.meta.url), [], {
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: String(THREADS) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const credentials = { username: 'reader of lists', password: "p:a'ss" };
  const socket = await privateSocket(path, 'engine.sock');
  process.send({ type: 'open', ...LIMITS, ...credentials, path, socketPath: socket.path } satisfies ToEngine);
  const [message] = (await once(process, 'message')) as [FromEngine];
  if (message.type !== 'opened') throw new Error(`the engine did not open: ${JSON.stringify(message)}`);
  const port = await openPort(socket.path);
  return {
    endpoint: { url: port.url, ...credentials, database: LIMITS.database },
    stop: async () => {
      await port.close();
      const exited = once(process, 'exit');
      process.send({ type: 'stop' } satisfies ToEngine);
      await exited;
      await socket.remove();
      await remove();
    },
  };
}
