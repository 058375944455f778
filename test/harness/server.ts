import { rm } from 'node:fs/promises';
import type { ServerOverrides } from '../../src/compose/context.js';
import { loadConfig } from '../../src/config/config.js';
import type { Limits } from '../../src/config/limits.js';
import type { Environment } from '../../src/config/env.js';
import { startServer } from '../../src/server.js';
import { freshDataDir } from './fresh-directory.js';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, or undefined when it is no JSON. */
  // Tests look into answers of every shape; a wrong guess fails an assertion.

  readonly json: any;
}

export interface TestRequest {
  /** An object or array is sent as JSON; a string or Buffer as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another key, or null for none. Default: the server's first key. */
  readonly key?: string | null;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Null without `OTLP_GRPC_PORT`. */
  readonly grpcPort: number | null;
  readonly key: string;
  readonly projectId: string;
  readonly dataDir: string;
  request(method: string, path: string, request?: TestRequest): Promise<TestResponse>;
  /** Stops the server; the data stays, for `bootServer({ dataDir })`. */
  stop(): Promise<void>;
  /** Stops the server and removes its data. */
  dispose(): Promise<void>;
}

export interface BootOptions extends ServerOverrides {
  /** Environment variables on top of the test's own. */
  readonly env?: Environment;
  /** Other limits than every installation has. */
  readonly limits?: Partial<Limits>;
  /** Data of an earlier server; default: a new, empty directory. */
  readonly dataDir?: string;
}

const PROJECT_ID = '0197f3a0-0000-7000-8000-000000000001';
const API_KEY = 'sk_sh_test_key_of_the_harness';

/** TEST_INGEST_THREADS=2 npm test -- test/…   has servers read every body of spans in threads */
const THREADS = process.env['TEST_INGEST_THREADS'];
const EVERY_BODY: ServerOverrides = { bodyThreads: { leastBytes: 1 } };

/** Boots the real server on a free port. Its project and key are always the same, so that it can be booted again on its data. */
export async function bootServer(options: BootOptions = {}): Promise<TestServer> {
  const { env, limits, dataDir: given, ...overrides } = options;
  const dataDir = given ?? (await freshDataDir('spanhouse-test-'));
  const variables = {
    PORT: '0',
    DATA_DIR: dataDir,
    // Whatever else is on the disk of tests.
    MIN_FREE_DISK_MB: '0',
    // TEST_LOG_LEVEL=warn npm test -- test/…   shows what servers log
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    // Nothing goes by itself, unless a test is about that.
    RETENTION_INTERVAL_SECONDS: '0',
    SPANHOUSE_INIT_PROJECT_ID: PROJECT_ID,
    SPANHOUSE_INIT_API_KEY: API_KEY,
    ...(THREADS !== undefined && { INGEST_THREADS: THREADS }),
    ...env,
  };
  const config = loadConfig(variables, limits);
  const server = await startServer(config, { ...(THREADS !== undefined && EVERY_BODY), ...overrides });
  const projectId = config.init.projectId ?? server.created?.projectId ?? '';
  const key = config.init.apiKey ?? server.created?.key ?? '';
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    port: server.port,
    grpcPort: server.grpcPort,
    key,
    projectId,
    dataDir,
    request: (method, path, request = {}) => send(url + path, method, { key, ...request }),
    stop: () => server.stop(),
    async dispose() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One request; never follows redirects. */
export async function send(url: string, method: string, { body, headers, key }: TestRequest): Promise<TestResponse> {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      // Else fetch asks for gzip, and the processor is busy with that.
      'accept-encoding': 'identity',
      ...(key === null || key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
