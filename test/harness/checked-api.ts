import { expect } from 'chai';
import {
  sessionList,
  spanList,
  traceList,
  type ListDefinition,
} from '../../src/engine/traces/model/list/definitions.js';
import type { Environment } from '../../src/config/env.js';
import { ApiDocument } from './api-document.js';
import type { Limits } from '../../src/config/limits.js';
import { bootServer, type TestRequest, type TestResponse, type TestServer } from './server.js';
import { sharedServer } from './shared-server.js';

export type ListName = 'spans' | 'traces' | 'sessions';
// Rows are compared with what a test expects; a wrong guess at their shape fails an assertion.
export type Row = Record<string, any>;
/** Name and value pairs, encoded here; a string is sent as it is. */
export type Query = string | readonly (readonly [string, string | number | boolean])[];

export const definitions: Readonly<Record<ListName, ListDefinition>> = {
  spans: spanList,
  traces: traceList,
  sessions: sessionList,
};
export const listNames = ['spans', 'traces', 'sessions'] as const;

export const START = '2026-01-31T10:00:00.000000Z';

/** The API of a server, each answer checked against the response schema of the server's own OpenAPI document. */
export class CheckedApi {
  readonly server: TestServer;
  readonly #document: ApiDocument;
  readonly #key: string;

  private constructor(server: TestServer, document: ApiDocument, key: string) {
    this.server = server;
    this.#document = document;
    this.#key = key;
  }

  static async of(server: TestServer): Promise<CheckedApi> {
    return new CheckedApi(server, await ApiDocument.of(server), server.key);
  }

  /** On a project of a shared server, unless it is to be set up otherwise. */
  static async boot(env?: Environment, limits?: Partial<Limits>): Promise<CheckedApi> {
    if (env === undefined && limits === undefined) return CheckedApi.of(await sharedServer());
    return CheckedApi.of(await bootServer({ ...(env && { env }), ...(limits && { limits }) }));
  }

  /** The same server for the holder of another key. */
  withKey(key: string): CheckedApi {
    return new CheckedApi(this.server, this.#document, key);
  }

  dispose(): Promise<void> {
    return this.server.dispose();
  }

  /** Any answer, when it is one that the document describes. */
  async send(method: 'GET' | 'POST', list: ListName, query: Query, request: TestRequest = {}): Promise<TestResponse> {
    const text = typeof query === 'string' ? query : encoded(query);
    const path = `/${list}${text === '' ? '' : `?${text}`}`;
    const response = await this.server.request(method, path, { key: this.#key, ...request });
    this.#document.check(method, path, response);
    return response;
  }

  async get(list: ListName, query: Query = ''): Promise<Row[]> {
    const response = await this.send('GET', list, query);
    expect(response.status, response.text.slice(0, 500)).to.equal(200);
    return response.json as Row[];
  }

  async one(list: ListName, id: string): Promise<Row> {
    const [row, ...more] = await this.get(list, [['id', id]]);
    expect(more).to.deep.equal([]);
    expect(row, `no ${list} ${id}`).to.not.equal(undefined);
    return row ?? {};
  }

  async ids(list: ListName, query: Query = ''): Promise<string[]> {
    return (await this.get(list, query)).map((row) => row['id'] as string);
  }

  async post(list: ListName, elements: unknown): Promise<Row[]> {
    const response = await this.send('POST', list, '', { body: elements });
    expect(response.status, response.text.slice(0, 500)).to.equal(200);
    return response.json as Row[];
  }

  /** Expects 422 and answers its issues as `pointer → detail`. */
  async refused(
    method: 'GET' | 'POST',
    list: ListName,
    sent: Query | readonly unknown[],
  ): Promise<Record<string, string>> {
    const response =
      method === 'GET'
        ? await this.send('GET', list, sent as Query)
        : await this.send('POST', list, '', { body: sent });
    expect(response.status, `${JSON.stringify(sent)?.slice(0, 300)}: ${response.text.slice(0, 300)}`).to.equal(422);
    expect(response.headers.get('content-type')).to.equal('application/problem+json');
    expect(response.json.request_id).to.equal(response.headers.get('x-request-id'));
    const issues = response.json.errors as { pointer: string; detail: string }[];
    return Object.fromEntries(issues.map(({ pointer, detail }) => [pointer, detail]));
  }
}

export function encoded(query: readonly (readonly [string, string | number | boolean])[]): string {
  return query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

/** A UUID of a number: tests name things by it. */
export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** The least that a span must have. */
export function span(number: number, more: Row = {}): Row {
  return { id: uuid(number), trace_id: uuid(1_000_000 + number), name: `span ${number}`, started_at: START, ...more };
}

/** Runs the work on every item, a few at a time, and answers in the order of the items. */
export async function each<I, O>(items: readonly I[], work: (item: I) => Promise<O>, atOnce = 8): Promise<O[]> {
  const results: O[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as I);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
