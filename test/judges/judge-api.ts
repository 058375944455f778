import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RETRIES } from '../../src/engine/work/backoff.js';
import { unhurried } from '../harness/program.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type BootOptions, type TestResponse, type TestServer } from '../harness/server.js';
import { ModelEndpoint } from './model-endpoint.js';

export type Json = Record<string, any>;

/** Longer than anything takes. */
const WITHIN_MS = 60_000;
/** Whoever asks ever again keeps the server from what it is asked about. */
const FIRST_PAUSE_MS = 20;
const MOST_PAUSE_MS = 150;
const SCORED = { evaluation_type: 'scored', score_min: 0, score_max: 10, pass_threshold: 6 };

/** The calls about judges, each with what a test usually expects of it. */
export class JudgeApi {
  readonly server: Pick<TestServer, 'request' | 'projectId'>;

  constructor(server: Pick<TestServer, 'request' | 'projectId'>) {
    this.server = server;
  }

  call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    const full = path.startsWith('/') ? path : `/projects/${this.server.projectId}/${path}`;
    return this.server.request(method, full, body === undefined ? {} : { body });
  }

  async expect(status: number, method: string, path: string, body?: unknown): Promise<any> {
    const response = await this.call(method, path, body);
    expect(response.status, `${method} ${path}: ${response.text.slice(0, 500)}`).to.equal(status);
    return response.json;
  }

  /** The broken rules of a refused request, as pointer → detail. */
  async refused(method: string, path: string, body?: unknown): Promise<Record<string, string>> {
    const { errors } = await this.expect(422, method, path, body);
    return Object.fromEntries(errors.map(({ pointer, detail }: Json) => [pointer, detail]));
  }

  create(judge: Json = {}): Promise<Json> {
    const named: Json = { name: 'Polite', evaluation_type: 'binary', prompt: 'Is the answer polite?', ...judge };
    return this.expect(
      201,
      'POST',
      'judges',
      named['task_slug'] === undefined ? named : { ...named, prompt: undefined },
    );
  }

  createScored(judge: Json = {}): Promise<Json> {
    return this.create({ ...SCORED, ...judge });
  }

  patch(id: string, change: Json): Promise<Json> {
    return this.expect(200, 'PATCH', `judges/${id}`, change);
  }

  async post(...spans: Json[]): Promise<Json[]> {
    return this.expect(200, 'POST', '/spans', spans);
  }

  async postOne(span: Json = {}): Promise<Json> {
    const [posted = {}] = await this.post(finished(span));
    return posted;
  }

  explain(judge: Json, span: Json): Promise<Json> {
    return this.expect(200, 'GET', `judges/${judge['id']}/explain/${span['id']}`);
  }

  async evaluations(judge: Json, query = ''): Promise<Json[]> {
    return (await this.expect(200, 'GET', `judges/${judge['id']}/evaluations?limit=500&${query}`)).evaluations;
  }

  async runs(judge: Json, query = ''): Promise<Json[]> {
    return (await this.expect(200, 'GET', `judges/${judge['id']}/runs?limit=500&${query}`)).runs;
  }

  /** Waits for the explanation to be one of these. */
  async until(judge: Json, span: Json, answers: string | readonly string[], timeoutMs = WITHIN_MS): Promise<Json> {
    const wanted = typeof answers === 'string' ? [answers] : answers;
    return eventually(
      () => this.explain(judge, span),
      ({ answer }) => wanted.includes(answer),
      timeoutMs,
    );
  }

  evaluated(judge: Json, span: Json): Promise<Json> {
    return this.until(judge, span, 'evaluated');
  }

  /** Spans that judges' calls were stored as. */
  callsOf(judge: Json): Promise<Json[]> {
    return this.expect(200, 'GET', `/spans?spanhouse.judge=${judge['id']}&sort_order=asc`);
  }
}

export function finished(span: Json = {}): Json {
  return {
    id: randomUUID(),
    trace_id: randomUUID(),
    name: 'answer',
    kind: 'llm',
    started_at: new Date().toISOString(),
    input_data: 'What is a span?',
    output_data: 'A timed step.',
    ...span,
  };
}

/** Asks until the answer is what is wanted. */
export async function eventually<T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
  timeoutMs = WITHIN_MS,
): Promise<T> {
  const withinMs = unhurried(timeoutMs);
  const until = Date.now() + withinMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const found = await ask();
    if (wanted(found)) return found;
    if (Date.now() > until) throw new Error(`Not within ${withinMs} ms: ${JSON.stringify(found).slice(0, 1000)}`);
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 1.5, MOST_PAUSE_MS);
  }
}

export const API_KEY = 'secret-key-of-the-model-endpoint';

/** A server with a model endpoint of the test's own. */
export class JudgeBench {
  readonly endpoint: ModelEndpoint;
  readonly server: TestServer;
  readonly api: JudgeApi;
  readonly #made: Json[] = [];

  private constructor(endpoint: ModelEndpoint, server: TestServer) {
    this.endpoint = endpoint;
    this.server = server;
    this.api = new JudgeApi(server);
  }

  static async boot(env: Record<string, string> = {}, options: BootOptions = {}): Promise<JudgeBench> {
    const endpoint = await ModelEndpoint.start();
    const server = await bootServer({
      judgeRetry: { ...RETRIES.work, firstMs: 20 },
      ...options,
      limits: { judgeAttempts: 3, ...options.limits },
      env: {
        JUDGE_LLM_BASE_URL: endpoint.url,
        JUDGE_LLM_API_KEY: API_KEY,
        JUDGE_LLM_MODEL: 'gpt-4o-mini',
        // With time for a call on a busy machine: one that takes too long is made again.
        JUDGE_LLM_TIMEOUT_SECONDS: '30',
        ...env,
      },
    });
    return new JudgeBench(endpoint, server);
  }

  /** The calls of another project. */
  project(name: string): JudgeApi {
    const { projectId, key } = makeProject(this.server.dataDir, { name });
    return new JudgeApi({
      projectId,
      request: (method, path, request = {}) => this.server.request(method, path, { key, ...request }),
    });
  }

  /** A judge for one test, see `clear`. */
  async make(judge: Json = {}): Promise<Json> {
    const created = await this.api.create(judge);
    this.#made.push(created);
    return created;
  }

  makeScored(judge: Json = {}): Promise<Json> {
    return this.make({ ...SCORED, ...judge });
  }

  /** Deletes the judges that were made: no test is to see calls for those of another. */
  async clear(): Promise<void> {
    for (const { id } of this.#made.splice(0)) await this.api.call('DELETE', `judges/${id}`);
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    await this.endpoint.stop();
  }
}
