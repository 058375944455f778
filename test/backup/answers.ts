import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';

type Server = Pick<TestServer, 'request' | 'projectId'>;

/** Everything that lists and their statistics say of a project. */
export async function answersOf(server: Server, key?: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const list of ['spans', 'traces', 'sessions']) {
    for (const path of [`/${list}?limit=500&count=true`, `/${list}:stats`]) {
      const { status, json, headers, text } = await server.request('GET', path, key === undefined ? {} : { key });
      expect(status, text).to.equal(200);
      answers[path] = [json, headers.get('x-total-count')];
    }
  }
  const { status, json, text } = await server.request('GET', '/spans?q=needle', key === undefined ? {} : { key });
  expect(status, text).to.equal(200);
  answers['search'] = json;
  return answers;
}

/** All rows of a list, page by page. */
export async function rowsOf(server: Server, list: string, key: string): Promise<any[]> {
  const rows: any[] = [];
  for (;;) {
    const { status, json, text } = await server.request('GET', `/${list}?limit=500&offset=${rows.length}`, { key });
    expect(status, text).to.equal(200);
    rows.push(...json);
    if (json.length < 500) return rows;
  }
}
