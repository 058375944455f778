import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { send, type TestServer } from '../harness/server.js';

type Server = Pick<TestServer, 'url' | 'key' | 'projectId'>;

/** The calls of prices and recalculations of one server, spelled once. */
export function priceApi(server: Server) {
  const { url, key, projectId } = server;
  const request = (method: string, path: string, body?: unknown) => send(url + path, method, { key, body });
  const prices = `/projects/${projectId}/model-prices`;
  const priceOf = (provider: string, model: string) =>
    `${prices}/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`;
  const api = {
    request,
    list: () => request('GET', prices),
    put: (provider: string, model: string, body: unknown) => request('PUT', priceOf(provider, model), body),
    get: (provider: string, model: string) => request('GET', priceOf(provider, model)),
    remove: (provider: string, model: string) => request('DELETE', priceOf(provider, model)),
    reprice: (body: unknown = {}) => request('POST', `${prices}:reprice`, body),
    job: (id: string) => request('GET', `${prices}/reprices/${id}`),
    cancel: (id: string) => request('POST', `${prices}/reprices/${id}:cancel`),
    jobs: () => request('GET', `${prices}/reprices`),
    /** Runs a recalculation to its end. */
    async repriced(body: unknown = {}) {
      const { status, json } = await api.reprice(body);
      expect(status).to.equal(202);
      return api.ended(json.id);
    },
    async ended(id: string) {
      for (const until = Date.now() + 60_000; Date.now() < until;) {
        const { json } = await api.job(id);
        if (json.finished_at !== null) return json;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error('The job did not end');
    },
    async post(spans: unknown) {
      const { status, json, text } = await request('POST', '/spans', spans);
      expect(status, text).to.equal(200);
      return json;
    },
    spansOf: async (trace: string) => (await request('GET', `/spans?trace_id=${trace}`)).json,
    traceOf: async (trace: string) => (await request('GET', `/traces?id=${trace}`)).json[0],
  };
  return api;
}

/** A model call of a million input and half a million output tokens, unless changed. */
export function call(traceId: string, change: Record<string, unknown> = {}, attributes: Record<string, unknown> = {}) {
  return {
    id: randomUUID(),
    trace_id: traceId,
    name: 'call',
    kind: 'llm',
    started_at: '2026-01-15T10:00:00.123456Z',
    attributes: { provider: 'acme', model: 'one', inputTokens: 1_000_000, outputTokens: 500_000, ...attributes },
    ...change,
  };
}
