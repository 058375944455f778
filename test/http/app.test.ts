import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { DomainError, type DomainErrorKind } from '../../src/domain/errors.js';
import { queryOf } from '../../src/transport/http/query.js';
import {
  defineRoute,
  jsonBody,
  rawBody,
  type Access,
  type Route,
  type RouteDefinition,
} from '../../src/transport/http/route.js';
import { bootApp, eventually, type TestApp } from './app-harness.js';
import { send } from './harness.js';

const about = {
  summary: 's',
  description: 'd',
  tag: 't',
  responses: { 200: { description: 'ok' } },
  errors: [],
} as const;

type Given<A extends Access> = Pick<RouteDefinition<never, undefined, undefined, A>, 'path' | 'handle'>;

function get(path: string, handle: Given<'public'>['handle']): Route {
  return defineRoute({ ...about, method: 'GET', path, operationId: path, access: 'public', handle });
}

const ITEMS = Type.Array(
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    tags: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
  }),
);

describe('the HTTP frame', () => {
  let app: TestApp;
  let source: Readable | undefined;
  let aborted: Promise<unknown> | undefined;
  let release: () => void = () => undefined;

  const failing: DomainErrorKind[] = ['conflict', 'overloaded', 'unavailable', 'internal'];
  const routes: Route[] = [
    ...failing.map((kind) =>
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
      source = new Readable({ read: () => void source?.push(chunk) });
      return { status: 200, stream: source, contentType: 'text/plain' };
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
    get('/wait', async ({ signal }) => {
      aborted = once(signal, 'abort');
      await Promise.race([aborted, new Promise<void>((resolve) => (release = resolve))]);
      return { status: 200, body: { waited: true } };
    }),
  ];

  beforeEach(async () => {
    app = await bootApp(routes, { maxBodyBytes: 40_000_000, maxBytesInWork: 50_000_000 });
  });
  afterEach(() => app.stop());

  const ask = (path: string, headers: Record<string, string> = {}) => send(app.url + path, 'GET', { headers });

  it('maps what went wrong to status and headers', async () => {
    const conflict = await ask('/fail/conflict');
    expect([conflict.status, conflict.json.detail]).to.deep.equal([409, 'told']);
    for (const [kind, status] of [
      ['overloaded', 429],
      ['unavailable', 503],
    ] as const) {
      const response = await ask(`/fail/${kind}`);
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([status, '3']);
    }
  });

  it('answers a defect with 500, says nothing of it, and reports it under the request id', async () => {
    for (const path of ['/fail/unexpected', '/fail/internal', '/fail/cyclic']) {
      const response = await ask(path, { 'x-request-id': 'find-me' });
      expect(response.status).to.equal(500);
      expect(response.json.request_id).to.equal('find-me');
      expect(response.text).to.not.match(/secret|TypeError|told|circular/i);
    }
    expect(app.failed.map(({ requestId }) => requestId)).to.deep.equal(['find-me', 'find-me', 'find-me']);
    expect(String(app.failed[0]?.error)).to.include('secret internals');
  });

  it('takes a sane request id and replaces any other', async () => {
    expect((await ask('/json', { 'x-request-id': 'a.B_c-9' })).headers.get('x-request-id')).to.equal('a.B_c-9');
    for (const bad of ['with space', 'x'.repeat(129), 'ü', '<script>']) {
      const given = (
        await ask('/json', { 'x-request-id': encodeURIComponent(bad) === bad ? bad : bad.replace('ü', '\u00fc') })
      ).headers.get('x-request-id');
      expect(given).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('sends security headers, and not what it is made of', async () => {
    const { headers } = await ask('/json');
    expect(headers.get('x-powered-by')).to.equal(null);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-total-count')).to.equal('7');
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await send(`${app.url}/json`, 'HEAD', {});
    expect([head.status, head.text, head.headers.get('content-length')]).to.deep.equal([200, '', '16']);
    expect((await send(`${app.url}/stream`, 'HEAD', {})).text).to.equal('');
    expect(source?.destroyed).to.equal(true);
  });

  it('routes a suffix after a parameter', async () => {
    expect((await send(`${app.url}/judges/7:run`, 'POST', {})).json).to.deep.equal({ run: '7' });
    expect((await send(`${app.url}/judges/a%3Ab:run`, 'POST', {})).json).to.deep.equal({ run: 'a:b' });
    expect((await ask('/judges/7')).status).to.equal(200);
    const other = await ask('/judges/7:run');
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'POST']);
  });

  it('observes requests by their template, never by their path', async () => {
    await send(`${app.url}/judges/7:run`, 'POST', {});
    await ask('/judges/7');
    await send(`${app.url}/nowhere/secret`, 'GET', { key: app.key });
    await eventually(() => app.finished.length === 3, 'three requests observed');
    expect(app.finished.map(({ route, status }) => [route, status])).to.deep.equal([
      ['/judges/{judge_id}:run', 200],
      ['/judges/{judge_id}', 200],
      ['unmatched', 404],
    ]);
  });

  describe('queries', () => {
    it('are read by their schema', async () => {
      const all = await ask(
        '/query?limit=3&cost=1e-3&has_error=false&id=ABCDEF00-0000-0000-0000-000000000000&order=asc&names=a&names=b&other=1',
      );
      expect(all.json).to.deep.equal({
        limit: 3,
        cost: 0.001,
        has_error: false,
        id: 'abcdef00-0000-0000-0000-000000000000',
        order: 'asc',
        names: ['a', 'b'],
      });
      expect((await ask('/query')).json).to.deep.equal({ limit: 5 });
    });

    it('with bad values are 422, each named', async () => {
      const bad = await ask('/query?limit=11&cost=abc&has_error=yes&id=1&order=up');
      expect(bad.status).to.equal(422);
      expect(bad.json.errors).to.deep.equal([
        { pointer: '?limit', detail: 'must be at most 10' },
        { pointer: '?cost', detail: 'must be a number' },
        { pointer: '?has_error', detail: 'must be true or false' },
        { pointer: '?id', detail: 'must be a UUID' },
        { pointer: '?order', detail: 'must be one of asc, desc' },
      ]);
      for (const value of ['', '1.5', '0', 'NaN', '9'.repeat(30), '1&limit=2']) {
        expect((await ask(`/query?limit=${value}`)).status, value).to.equal(422);
      }
      for (const value of ['', 'Infinity', '0x10', '1e999']) {
        expect((await ask(`/query?cost=${value}`)).status, value).to.equal(422);
      }
    });

    it('with bad percent-encoding are 400', async () => {
      expect((await ask('/query?limit=%ZZ')).status).to.equal(400);
      expect((await ask('/query?tag=%FF')).status).to.equal(400);
    });
  });

  describe('bodies', () => {
    const post = (body: unknown) => send(`${app.url}/items`, 'POST', { body, key: app.key });

    it('name the broken items', async () => {
      const id = '0197f3a0-0000-7000-8000-000000000001';
      const response = await post([{ id }, { id: 'x' }, 5, { id, tags: { 'a/b~c': {} } }, {}]);
      expect(response.json.errors).to.deep.equal([
        { pointer: '/1/id', detail: 'must be a UUID' },
        { pointer: '/2', detail: 'must be an object' },
        { pointer: '/3/tags/a~1b~0c', detail: 'must be a string or a number' },
        { pointer: '/4/id', detail: 'is required' },
      ]);
      expect((await post([])).json.count).to.equal(0);
    });

    for (const [name, item] of [
      [
        'a million bad items',
        () => `[${Array.from({ length: 1_000_000 }, () => '{"id":"nonsense, and long"}').join(',')}]`,
      ],
      [
        'a million bad tags',
        () => `[{"tags":{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":[]`).join(',')}}}]`,
      ],
    ] as const) {
      it(`of ${name} are refused with a hundred issues`, async () => {
        const text = item();
        const response = await post(text);
        expect(response.status).to.equal(422);
        expect(response.json.errors).to.have.length(100);
      }).timeout(20_000);
    }

    it('of any kind reach a route that decodes itself, and its errors have its own form', async () => {
      const headers = { 'content-type': 'application/x-protobuf; v=1' };
      const taken = await send(`${app.url}/raw`, 'POST', { body: Buffer.from([1, 2, 3]), key: app.key, headers });
      expect(taken.json).to.deep.equal({ type: 'application/x-protobuf', bytes: 3 });
      const refused = await send(`${app.url}/raw`, 'POST', { body: 'x', headers });
      expect(refused.status).to.equal(401);
      expect(refused.headers.get('www-authenticate')).to.match(/^Bearer/);
      expect(refused.headers.get('content-type')).to.equal('application/x-protobuf; v=1');
      expect(refused.text).to.match(/^401: /);
      const other = await send(`${app.url}/raw`, 'PUT', { body: 'x', key: app.key, headers });
      expect([other.status, other.text.slice(0, 3)]).to.deep.equal([405, '405']);
    });

    it('that come too slowly are given up with 408', async () => {
      await app.stop();
      app = await bootApp(routes, { readTimeoutMs: 300 });
      const started = performance.now();
      const request = httpRequest(`${app.url}/items`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', 'content-length': '100' },
      });
      request.write('[');
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).to.equal(408);
      expect(performance.now() - started).to.be.within(250, 2_000);
      request.destroy();
    });

    it('are 429 while others fill the memory set aside, and taken again afterwards', async () => {
      const headers = {
        authorization: `Bearer ${app.key}`,
        'content-type': 'application/json',
        'content-length': '39000000',
      };
      const first = httpRequest(`${app.url}/items`, { method: 'POST', headers });
      first.on('error', () => undefined);
      const sent = new Promise((resolve) => first.write(Buffer.alloc(30_000_000, ' '), resolve));
      await sent;
      const second = await post(`[]${' '.repeat(30_000_000)}`);
      expect([second.status, second.headers.get('retry-after')]).to.deep.equal([429, '1']);
      first.destroy();
      await eventually(() => app.finished.some(({ status }) => status === 499), 'the first upload ended');
      expect((await post(`[]${' '.repeat(30_000_000)}`)).status).to.equal(200);
    }).timeout(10_000);

    it('whose client goes away do not disturb anything', async () => {
      const socket = connect(app.port, '127.0.0.1');
      socket.write(
        `POST /items HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.key}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[`,
      );
      await delay(50);
      socket.resetAndDestroy();
      await eventually(() => app.finished.length === 1, 'the request ended');
      expect(app.finished[0]).to.include({ status: 499, route: '/items' });
      expect(app.failed).to.deep.equal([]);
      expect((await ask('/json')).status).to.equal(200);
    });
  });

  describe('streams', () => {
    it('wait for a slow client and end when it goes away', async () => {
      const request = httpRequest(`${app.url}/stream`).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.pause();
      await delay(200);
      // What is not read must not pile up here: only what the sockets hold was taken from the source.
      expect(source?.readableLength).to.be.below(1_000_000);
      expect(process.memoryUsage().arrayBuffers).to.be.below(200_000_000);
      response.destroy();
      await eventually(() => source?.destroyed === true, 'the source was destroyed');
      expect(app.failed).to.deep.equal([]);
    });

    it('that fail before the first byte are answered with the error', async () => {
      const response = await ask('/stream/broken-at-once');
      expect([response.status, response.json.detail]).to.deep.equal([503, 'the store is gone']);
    });

    it('that fail later are cut off, so that nobody takes a part for the whole', async () => {
      const outcome = await ask('/stream/broken-later').then(
        () => 'complete',
        () => 'cut off',
      );
      expect(outcome).to.equal('cut off');
      expect(app.failed).to.have.length(1);
    });
  });

  it('tells a handler when the client goes away', async () => {
    const request = httpRequest(`${app.url}/wait`).end();
    request.on('error', () => undefined);
    await eventually(() => aborted !== undefined, 'the handler runs');
    request.destroy();
    await aborted;
    await eventually(() => app.finished.length === 1, 'the request ended');
    expect(app.finished[0]).to.include({ status: 499 });
  });

  describe('stopping', () => {
    it('finishes what is in work and closes idle connections', async () => {
      aborted = undefined;
      await ask('/json'); // leaves a kept-alive connection
      const waiting = ask('/wait');
      await eventually(() => aborted !== undefined, 'the handler runs');
      const stopped = app.stop(5_000);
      await delay(100);
      expect(await ask('/json').catch(() => 'refused')).to.equal('refused');
      release();
      expect((await waiting).json).to.deep.equal({ waited: true });
      const started = performance.now();
      await stopped;
      expect(performance.now() - started).to.be.below(1_000);
    });

    it('cuts off what is not done by the deadline', async () => {
      aborted = undefined;
      const waiting = ask('/wait').catch(() => 'cut off');
      await eventually(() => aborted !== undefined, 'the handler runs');
      const started = performance.now();
      await app.stop(200);
      expect(performance.now() - started).to.be.below(1_500);
      expect(await waiting).to.equal('cut off');
    });
  });
});
