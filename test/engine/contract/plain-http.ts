import { request } from 'node:http';
import type { TestEngine } from './engines.js';

export interface Reply {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

export function get(engine: TestEngine, query: string, more: Record<string, string> = {}): Promise<Reply> {
  return send(engine, 'GET', { query, ...more }, undefined);
}

export function post(engine: TestEngine, body: string): Promise<Reply> {
  return send(engine, 'POST', {}, body);
}

/** Plain HTTP, for what a client library hides. */
function send(
  { endpoint }: TestEngine,
  method: string,
  search: Record<string, string>,
  body: string | undefined,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const url = `${endpoint.url}/?${new URLSearchParams({ database: endpoint.database, ...search }).toString()}`;
    const sent = request(
      url,
      { method, auth: `${endpoint.username}:${endpoint.password}`, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
