import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';

type Body = Readonly<Record<string, unknown>>;

/** The calls of scores of one server, each answer checked against the OpenAPI document. */
export async function scoreApi(server: TestServer) {
  const document = await ApiDocument.of(server);
  const definitions = `/projects/${server.projectId}/score-definitions`;
  const request = async (method: string, path: string, body?: unknown, key?: string) => {
    const answer = await server.request(method, path, {
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    });
    document.check(method, path, answer);
    return answer;
  };
  const api = {
    request,
    async post(body: unknown) {
      const answer = await request('POST', '/scores', body);
      expect(answer.status, answer.text).to.equal(200);
      return answer.json;
    },
    /** Expects 422. @returns details by pointer */
    async refused(body: unknown, method = 'POST', path = '/scores'): Promise<Record<string, string>> {
      const { status, json, text } = await request(method, path, body);
      expect(status, text).to.equal(422);
      const issues = json.errors as { pointer: string; detail: string }[];
      return Object.fromEntries(issues.map(({ pointer, detail }) => [pointer, detail]));
    },
    async list(query = '') {
      const answer = await request('GET', `/scores${query}`);
      expect(answer.status, answer.text).to.equal(200);
      return answer.json as any[];
    },
    async values(query = '') {
      return (await api.list(query)).map(({ value }) => value as unknown);
    },
    get: (id: string) => request('GET', `/scores/${id}`),
    remove: (id: string) => request('DELETE', `/scores/${id}`),
    definitions: async () => (await request('GET', definitions)).json as any[],
    definition: (name: string) => request('GET', `${definitions}/${encodeURIComponent(name)}`),
    define: (name: string, body: Body) => request('PUT', `${definitions}/${encodeURIComponent(name)}`, body),
    removeDefinition: (name: string) => request('DELETE', `${definitions}/${encodeURIComponent(name)}`),
  };
  return api;
}

export type ScoreApi = Awaited<ReturnType<typeof scoreApi>>;

/** A score of a span of its own, unless changed. */
export function score(change: Body = {}): Record<string, any> {
  return { entity_type: 'span', entity_id: randomUUID(), name: 'helpful', value: true, ...change };
}
