import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Governor } from '../../src/engine/work/governor.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { SignInService } from '../../src/engine/identity/sign-in-service.js';
import { FairSemaphore, type TurnLimits } from '../../src/engine/work/fair-semaphore.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { SqliteSignInStore } from '../../src/engine/identity/store/sign-in-store.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { BodyMemory, type BodyMemoryLimits } from '../../src/http/wire/body-memory.js';
import { createApp } from '../../src/http/app.js';
import { Callers } from '../../src/http/callers.js';
import type { BodyLimits } from '../../src/http/body.js';
import { listen, type ListenerOptions } from '../../src/http/listener.js';
import type { Route } from '../../src/http/route.js';
import { SessionCookie } from '../../src/http/session-cookie.js';

export interface FinishedRequest {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly requestId: string;
}

export interface TestApp {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly projectId: string;
  /** What the observer was told. */
  readonly finished: FinishedRequest[];
  readonly failed: { readonly requestId: string; readonly error: unknown }[];
  stop(deadlineMs?: number): Promise<void>;
}

const LIMITS: BodyLimits & BodyMemoryLimits & Pick<ListenerOptions, 'maxConnections'> = {
  maxBodyBytes: 1_000_000,
  maxBytesInWork: 4_000_000,
  maxPublicBytesInWork: 1_000_000,
  readTimeoutMs: 10_000,
  minBytesPerSecond: 1000,
  rateWindowMs: 2_500,
  maxConnections: 1_000,
};

/** The real app, listener and identity (on a real SQLite file) around routes of the test's own. */
export async function bootApp(
  routes: readonly Route[],
  { answers, ...given }: Partial<typeof LIMITS> & { readonly answers?: TurnLimits } = {},
): Promise<TestApp> {
  const folder = await mkdtemp(join(tmpdir(), 'spanhouse-app-'));
  const database = openDatabase(join(folder, 'test.sqlite'));
  migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
  const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
  const { created } = identity.bootstrap();
  const baseUrl = () => 'http://127.0.0.1';
  const cookie = new SessionCookie({ installation: 'app', baseUrl, maxAgeSeconds: 86_400 });
  const signIns = new SignInService({ store: new SqliteSignInStore(database), identity });
  const finished: FinishedRequest[] = [];
  const failed: TestApp['failed'] = [];
  const silent = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
  const limits = { ...LIMITS, ...given };
  const app = createApp({
    routes,
    identity: new Callers({ identity, signIns, cookie, baseUrl, trustedProxies: 0 }),
    limits,
    memory: new BodyMemory(limits),
    trustedProxies: 0,
    delivery: { minBytesPerSecond: 0, rateWindowMs: 1_000 },
    answers: new FairSemaphore('lists', answers ?? { atOnce: 100, perParty: 99, maxWaitMs: 1_000 }),
    gathered: new FairSemaphore('answers put together', { atOnce: 2, perParty: 1, maxWaitMs: 5_000 }),
    governor: new Governor(),
    log: { ...silent, child: () => silent },
    observer: {
      requestFinished: (request) => finished.push(request),
      requestFailed: (failure) => failed.push(failure),
      answerCutOff: () => undefined,
    },
  });
  const requestTimeoutMs = limits.readTimeoutMs + 5_000;
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: requestTimeoutMs,
    requestTimeoutMs,
    maxConnections: limits.maxConnections,
  });
  let stopped: Promise<void> | undefined;
  const stop = async (deadlineMs: number) => {
    await listener.stop(deadlineMs);
    identity.close();
    database.close();
    await rm(folder, { recursive: true });
  };
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    key: created?.key ?? '',
    projectId: created?.projectId ?? '',
    finished,
    failed,
    stop: (deadlineMs = 1_000) => (stopped ??= stop(deadlineMs)),
  };
}

/** Waits until the condition holds. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  const until = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > until) throw new Error(`Not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
