import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RETRIES } from '../../src/engine/work/backoff.js';
import { isHeldOut } from '../../src/features/trials/held-out.js';
import { ApiDocument } from '../harness/api-document.js';
import { uuid } from '../harness/checked-api.js';
import { bootServer, type BootOptions, type TestResponse, type TestServer } from '../harness/server.js';
import type { ScriptedModel } from './scripted-model.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Json = any;

/** Calls of the API about judges, feedback and prompts, as tests of learning need them. */
export class LearningApi {
  readonly server: TestServer;
  /** Null: answers are not checked against the document. */
  readonly #document: ApiDocument | null;

  constructor(server: TestServer, document: ApiDocument | null = null) {
    this.server = server;
    this.#document = document;
  }

  static async boot(model: ScriptedModel | null, options: BootOptions = {}): Promise<LearningApi> {
    const env = model === null ? {} : { JUDGE_LLM_BASE_URL: model.url, JUDGE_LLM_MODEL: 'gpt-4o-mini' };
    const server = await bootServer({
      judgeRetry: { ...RETRIES.work, firstMs: 10 },
      ...options,
      env: { ...env, JUDGE_CONCURRENCY: '8', ...options.env },
    });
    return new LearningApi(server, await ApiDocument.of(server));
  }

  get project(): string {
    return `/projects/${this.server.projectId}`;
  }

  async expect(status: number, method: string, path: string, body?: unknown): Promise<Json> {
    const response = await this.send(method, path, body);
    expect(response.status, `${method} ${path}: ${response.text.slice(0, 2000)}`).to.equal(status);
    return response.json;
  }

  get(path: string): Promise<Json> {
    return this.expect(200, 'GET', path);
  }

  async send(method: string, path: string, body?: unknown): Promise<TestResponse> {
    const response = await this.server.request(method, path, body === undefined ? {} : { body });
    this.#document?.check(method, path, response);
    return response;
  }

  judge(more: Record<string, unknown> = {}): Promise<Json> {
    return this.expect(201, 'POST', `${this.project}/judges`, {
      name: 'tester',
      evaluation_type: 'binary',
      prompt: 'Does the output answer the input?',
      sample_rate: 0,
      ...more,
    });
  }

  async spans(spans: readonly Json[]): Promise<void> {
    const started_at = '2026-01-31T10:00:00Z';
    const sent = spans.map((span) => ({
      trace_id: span.id,
      name: 'answer',
      kind: 'llm',
      started_at,
      duration_ms: 5,
      ...span,
    }));
    await this.expect(200, 'POST', '/spans', sent);
  }

  /** Has the judge evaluate the spans, and answers the evaluations by span. */
  async evaluate(judge: Json, ids: readonly string[]): Promise<Map<string, Json>> {
    const path = `${this.project}/judges/${judge.id}`;
    const before = (await this.get(`${path}/evaluations?limit=1`)).total as number;
    await this.expect(202, 'POST', `${path}:run`, { span_ids: ids });
    const total = await this.until(async () => {
      const page = await this.get(`${path}/evaluations?limit=1`);
      return page.total >= before + ids.length ? (page.total as number) : null;
    });
    const { evaluations } = await this.get(`${path}/evaluations?limit=500&offset=${Math.max(0, total - ids.length)}`);
    return new Map(evaluations.map((evaluation: Json) => [evaluation.span_id, evaluation]));
  }

  review(judge: Json, spanId: string, feedback: Record<string, unknown>): Promise<Json> {
    const path = `/v1/prompts/${encodeURIComponent(judge.task_slug)}/completions/${spanId}/feedback`;
    return this.expect(200, 'POST', path, { judge_id: judge.id, ...feedback });
  }

  /** Waits until a job has ended. */
  finished(path: string): Promise<Json> {
    return this.until(async () => {
      const job = await this.get(path);
      return ['done', 'failed', 'cancelled'].includes(job.status) ? job : null;
    });
  }

  async until<T>(find: () => Promise<T | null>, withinMs = 120_000): Promise<T> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const found = await find();
      if (found !== null) return found;
      if (performance.now() > deadline) throw new Error('It did not happen in time');
      await sleep(20);
    }
  }
}

/** Ids of spans, so many of each half. */
export function idsOf(from: number, heldOut: number, others: number): string[] {
  const left = { held: heldOut, other: others };
  const ids: string[] = [];
  for (let number = from; left.held + left.other > 0; number += 1) {
    const side = isHeldOut(uuid(number)) ? 'held' : 'other';
    if (left[side] === 0) continue;
    left[side] -= 1;
    ids.push(uuid(number));
  }
  return ids;
}
