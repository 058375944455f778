import { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { BodyMemory } from '../http/wire/body-memory.js';
import { createApp } from '../http/app.js';
import type { BodyLimits } from '../http/body.js';
import { listen, type Listener } from '../http/listener.js';
import type { Context } from './context.js';
import { createRoutes } from './routes.js';
import type { Services } from './services.js';
import { createDoor } from './sign-in.js';

/** Limits and memory of request bodies, shared by HTTP and gRPC. */
export interface Bodies {
  readonly limits: BodyLimits;
  readonly memory: BodyMemory;
}

/** Longer than a body may take: its own limit comes first, and is answered. */
const HEADERS_MS = 5_000;

export function createBodies({ config: { http, bodies } }: Context): Bodies {
  return {
    limits: {
      maxBodyBytes: http.maxBodyBytes,
      readTimeoutMs: bodies.timeoutMs,
      minBytesPerSecond: bodies.minBytesPerSecond,
      rateWindowMs: bodies.rateWindowMs,
    },
    memory: new BodyMemory({ maxBytesInWork: bodies.memoryBytes, maxPublicBytesInWork: bodies.publicMemoryBytes }),
  };
}

/** @throws Error with `code` (EADDRINUSE, EACCES) */
export function openHttp(context: Context, services: Services, { limits, memory }: Bodies): Promise<Listener> {
  const { config, log, events, governor } = context;
  const { host, port, trustedProxies, hstsSeconds } = config.http;
  const door = createDoor(context, services);
  const answers = new FairSemaphore('lists', config.answers);
  const app = createApp({
    routes: createRoutes(context, services, door, answers),
    identity: door.callers,
    limits,
    memory,
    trustedProxies,
    hstsSeconds,
    delivery: config.delivery,
    answers,
    gathered: new FairSemaphore('answers put together', config.gathered),
    governor,
    log,
    observer: events,
  });
  return listen(app, {
    host,
    port,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: limits.readTimeoutMs + HEADERS_MS,
    maxConnections: config.maxConnections,
  });
}

/** Null: it is not wanted. Its library is imported only here: a server without gRPC starts without it. */
export async function openGrpc(
  { config, events, governor }: Context,
  { identity, exportTraces }: Services,
  { limits, memory }: Bodies,
): Promise<Listener | null> {
  if (config.grpcPort === null) return null;
  const { listenGrpc } = await import('../otlp/grpc/listener.js');
  return listenGrpc({
    host: config.http.host,
    port: config.grpcPort,
    identity,
    exportTraces: (...sent) => governor.duringCall(() => exportTraces(...sent)),
    memory,
    maxConnections: config.maxConnections,
    maxCalls: config.grpcCallsAtOnce,
    limits,
    observer: events,
  });
}
