import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { DomainError, type DomainErrorKind } from '../../src/engine/errors.js';
import { queryOf } from '../../src/http/query.js';
import { defineRoute, jsonBody, rawBody, type Access, type Route, type RouteDefinition } from '../../src/http/route.js';
import { bootApp, type TestApp } from './app-harness.js';
import { send, type TestResponse } from '../harness/server.js';

const about = {
  summary: 's',
  description: 'd',
  tag: 'Traces',
  responses: { 200: { description: 'ok', schema: Type.Unknown() } },
  errors: [],
} as const;

type Given<A extends Access> = Pick<
  RouteDefinition<never, undefined, undefined, A, typeof about.responses>,
  'path' | 'handle'
>;

function get(path: string, handle: Given<'public'>['handle']): Route {
  return defineRoute({ ...about, method: 'GET', path, operationId: path, access: 'public', handle });
}

const ITEMS = Type.Array(
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    tags: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
  }),
);

const FAILING: DomainErrorKind[] = ['conflict', 'overloaded', 'unavailable', 'internal'];

/** Routes that do all that a route may do, and what they are at. */
class FrameRoutes {
  /** What `/stream` sends. */
  source: Readable | undefined;
  /** Settles when the client of `/wait` goes away; set once that is handled. */
  aborted: Promise<unknown> | undefined;
  /** Lets `/wait` answer. */
  release: () => void = () => undefined;

  readonly routes: readonly Route[] = [
    ...FAILING.map((kind) =>
      get(`/fail/${kind}`, () => {
        throw new DomainError(kind, 'told', { retryAfterSeconds: 2.5 });
      }),
    ),
    get('/fail/unexpected', () => Promise.reject(new TypeError('secret internals'))),
    get('/fail/cyclic', () => {
      const body: Record<string, unknown> = {};
      body['self'] = body;
      return { status: 200, body };
    }),
    get('/json', () => ({ status: 200, json: Buffer.from('{"ready":"made"}'), headers: { 'X-Total-Count': '7' } })),
    get('/judges/:judge_id', ({ params }) => ({ status: 200, body: { judge: params } })),
    defineRoute({
      ...about,
      method: 'POST',
      path: '/judges/:judge_id:run',
      operationId: 'run',
      access: 'public',
      params: Type.Object({ judge_id: Type.String() }),
      handle: ({ params }) => ({ status: 200, body: { run: params.judge_id } }),
    }),
    defineRoute({
      ...about,
      method: 'GET',
      path: '/query',
      operationId: 'query',
      access: 'public',
      query: queryOf(
        Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 10, default: 5 }),
          cost: Type.Optional(Type.Number()),
          has_error: Type.Optional(Type.Boolean()),
          id: Type.Optional(Type.String({ format: 'uuid' })),
          order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
          names: Type.Optional(Type.Array(Type.String())),
        }),
      ),
      handle: ({ query }) => ({ status: 200, body: query }),
    }),
    defineRoute({
      ...about,
      method: 'POST',
      path: '/items',
      operationId: 'items',
      access: 'key',
      body: jsonBody(ITEMS),
      handle: ({ body, principal }) => ({ status: 200, body: { count: body.length, project: principal.project_id } }),
    }),
    defineRoute({
      ...about,
      method: 'POST',
      path: '/raw',
      operationId: 'raw',
      access: 'key',
      body: rawBody(['application/json', 'application/x-protobuf'], 'Anything.'),
      renderError: ({ status, detail }, { headers }) => ({
        contentType: headers['content-type'] ?? 'text/plain',
        content: `${status}: ${detail}`,
      }),
      handle: ({ body }) => ({ status: 200, body: { type: body.mediaType, bytes: body.bytes.length } }),
    }),
    get('/stream', () => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      this.source = new Readable({ read: () => void this.source?.push(chunk) });
      return { status: 200, stream: this.source, contentType: 'text/plain' };
    }),
    get('/stream/broken-at-once', () => ({
      status: 200,
      contentType: 'text/plain',
      stream: new Readable({
        read() {
          this.destroy(new DomainError('unavailable', 'the store is gone'));
        },
      }),
    })),
    get('/stream/broken-later', () => {
      let sent = 0;
      const stream = new Readable({
        read() {
          if ((sent += 1) < 3) this.push(Buffer.alloc(100_000, 'x'));
          else this.destroy(new Error('secret'));
        },
      });
      return { status: 200, stream, contentType: 'text/plain' };
    }),
    get('/stream/of-the-client', ({ signal }) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const stream = new Readable({ read: () => void stream.push(chunk) });
      this.source = stream;
      // As a query of the engine is cut off.
      signal.addEventListener('abort', () => stream.destroy(new Error('aborted')));
      return { status: 200, stream, contentType: 'text/plain' };
    }),
    get('/wait', async ({ signal }) => {
      this.aborted = once(signal, 'abort');
      await Promise.race([this.aborted, new Promise<void>((resolve) => (this.release = resolve))]);
      return { status: 200, body: { waited: true } };
    }),
  ];
}

/** What the tests of the frame run on; `app` is set once they run. */
class FrameTests {
  app!: TestApp;
  readonly frame = new FrameRoutes();

  ask(path: string, headers: Record<string, string> = {}): Promise<TestResponse> {
    return send(this.app.url + path, 'GET', { headers });
  }
}

/** Declares tests of the frame, each on an app of its own with these routes. */
export function httpFrame(declare: (on: FrameTests) => void): void {
  describe('the HTTP frame', () => {
    const on = new FrameTests();

    beforeEach(async () => {
      on.app = await bootApp(on.frame.routes, { maxBodyBytes: 40_000_000, maxBytesInWork: 80_000_000 });
    });
    afterEach(() => on.app.stop());

    declare(on);
  });
}
