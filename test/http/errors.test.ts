import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';

const OTHER_PROJECT = '0197f3a0-0000-7000-8000-00000000ffff';

function expectProblem(response: TestResponse, status: number): void {
  expect(response.status, response.text).to.equal(status);
  expect(response.headers.get('content-type')).to.equal('application/problem+json');
  expect(response.json).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
  expect(response.json.status).to.equal(status);
  expect(response.json.request_id).to.equal(response.headers.get('x-request-id'));
  expect(response.text).to.not.match(/node_modules|\.js:|stack/);
}

describe('errors over HTTP', () => {
  let server: TestServer;
  let keys: string;

  before(async () => {
    server = await bootServer({ env: { MAX_BODY_MB: '1' } });
    keys = `/projects/${server.projectId}/api-keys`;
  });
  after(() => server.dispose());

  const post = (body: unknown, headers: Record<string, string> = {}) => server.request('POST', keys, { body, headers });
  const countKeys = async () => (await server.request('GET', keys)).json.length as number;

  describe('401', () => {
    const cases: Record<string, string | undefined> = {
      missing: undefined,
      'another scheme': 'Basic abc',
      'no key': 'Bearer ',
      unknown: 'Bearer sk_sh_unknown',
      'two words': 'Bearer a b',
      huge: `Bearer ${'x'.repeat(5000)}`,
    };
    for (const [name, authorization] of Object.entries(cases)) {
      it(`key ${name}`, async () => {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await server.request('GET', keys, { key: null, headers });
        expectProblem(response, 401);
        expect(response.headers.get('www-authenticate')).to.match(/^Bearer/);
      });
    }

    it('comes before 403, 404, 405 and 422', async () => {
      expectProblem(await server.request('GET', `/projects/${OTHER_PROJECT}/api-keys`, { key: null }), 401);
      expectProblem(await server.request('GET', '/nowhere', { key: null }), 401);
      expectProblem(await server.request('PUT', keys, { key: null }), 401);
      expectProblem(await server.request('POST', keys, { key: null, body: '{' }), 401);
    });

    it('takes the scheme in any case', async () => {
      const headers = { authorization: `bearer ${server.key}` };
      expect((await server.request('GET', keys, { key: null, headers })).status).to.equal(200);
    });
  });

  it('403: another project, before anything of the request is looked at', async () => {
    expectProblem(await server.request('GET', `/projects/${OTHER_PROJECT}/api-keys`), 403);
    expectProblem(await server.request('POST', `/projects/not-a-uuid/api-keys`, { body: '{' }), 403);
    expectProblem(await server.request('DELETE', `/projects/${OTHER_PROJECT}/api-keys/nonsense`), 403);
  });

  it('the project id is taken in upper case too', async () => {
    const response = await server.request('GET', `/projects/${server.projectId.toUpperCase()}/api-keys`);
    expect(response.status).to.equal(200);
    expect(response.json).to.have.length(1);
  });

  it('404: unknown path, with a key', async () => {
    expectProblem(await server.request('GET', '/nowhere'), 404);
    expectProblem(await server.request('DELETE', `${keys}/${OTHER_PROJECT}`), 404);
  });

  it('405 with Allow', async () => {
    const response = await server.request('PUT', keys);
    expectProblem(response, 405);
    expect(response.headers.get('allow')?.split(', ').sort()).to.deep.equal(['GET', 'HEAD', 'POST']);
    const open = await server.request('POST', '/healthz', { key: null });
    expectProblem(open, 405);
    expect(open.headers.get('allow')).to.equal('GET, HEAD');
    expectProblem(await server.request('OPTIONS', keys), 405);
  });

  it('400: bad percent-encoding in the path', async () => {
    expectProblem(await server.request('DELETE', `${keys}/%E0%A4%A`), 400);
    expectProblem(await server.request('DELETE', `${keys}/%FF`), 400);
  });

  describe('400: unreadable bodies', () => {
    const bodies: Record<string, string | Buffer> = {
      empty: '',
      truncated: '{"name":"a"',
      'trailing text': '{"name":"a"} x',
      'a bare word': 'hello',
      'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      'nested too deep': '['.repeat(100_000) + ']'.repeat(100_000),
      'nested objects too deep': '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000),
    };
    for (const [name, body] of Object.entries(bodies)) {
      it(name, async () => {
        const before = await countKeys();
        expectProblem(await post(body), 400);
        expect(await countKeys()).to.equal(before);
      });
    }

    it('says where the JSON breaks, without quoting the body', async () => {
      const response = await post('{"name": "secret-content" oops}');
      expect(response.json.detail).to.match(/position \d+/);
      expect(response.text).to.not.include('secret-content');
    });

    it('broken gzip and truncated gzip', async () => {
      expectProblem(await post('this is no gzip', { 'content-encoding': 'gzip' }), 400);
      const whole = gzipSync(JSON.stringify({ name: 'x'.repeat(100) }));
      expectProblem(await post(whole.subarray(0, whole.length - 9), { 'content-encoding': 'gzip' }), 400);
      expectProblem(await post('nonsense', { 'content-encoding': 'deflate' }), 400);
    });
  });

  describe('accepted encodings', () => {
    const json = JSON.stringify({ name: 'compressed' });
    for (const [encoding, body] of [
      ['gzip', gzipSync(json)],
      ['x-gzip', gzipSync(json)],
      ['deflate', deflateSync(json)],
      ['deflate', deflateRawSync(json)],
      ['identity', Buffer.from(json)],
    ] as const) {
      it(encoding, async () => {
        const response = await post(body, { 'content-encoding': encoding });
        expect(response.status, response.text).to.equal(201);
        expect(response.json.name).to.equal('compressed');
      });
    }
  });

  describe('413', () => {
    it('by its length', async () => {
      expectProblem(await post(Buffer.alloc(1024 * 1024 + 1, 0x20)), 413);
    });

    it('takes exactly the limit', async () => {
      const padding = ' '.repeat(1024 * 1024 - '{"name":"a"}'.length);
      expect((await post(`{"name":"a"}${padding}`)).status).to.equal(201);
    });

    it('after decompression, gzip and deflate', async () => {
      const big = Buffer.alloc(1024 * 1024 + 1, 0x20);
      expectProblem(await post(gzipSync(big), { 'content-encoding': 'gzip' }), 413);
      expectProblem(await post(deflateSync(big), { 'content-encoding': 'deflate' }), 413);
    });

    it('a bomb costs neither time nor memory', async () => {
      const bomb = gzipSync(Buffer.alloc(512 * 1024 * 1024), { level: 9 });
      const before = process.memoryUsage.rss();
      const cpu = process.cpuUsage();
      expectProblem(await post(bomb, { 'content-encoding': 'gzip' }), 413);
      // Unfolding all of it would take more than a second.
      expect(process.cpuUsage(cpu).user / 1000).to.be.below(500);
      expect(process.memoryUsage.rss() - before).to.be.below(100 * 1024 * 1024);
    }).timeout(20_000);

    it('of a body without a length, in the middle of its upload, with the answer still seen', async () => {
      const status = await new Promise<number>((resolve, reject) => {
        const request = httpRequest(server.url + keys, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
        });
        request.on('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on('error', reject);
        for (let sent = 0; sent < 8; sent += 1) request.write(randomBytes(512 * 1024));
        request.end();
      });
      expect(status).to.equal(413);
    });
  });

  it('415: another content type, charset or encoding', async () => {
    expectProblem(await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), 415);
    expectProblem(await post('{}', { 'content-type': 'application/json; charset=utf-16' }), 415);
    expectProblem(await post('{}', { 'content-encoding': 'br' }), 415);
    expectProblem(await post('{}', { 'content-encoding': 'gzip, gzip' }), 415);
    const response = await post('{"name":"a"}', { 'content-type': 'Application/JSON; Charset="UTF-8"' });
    expect(response.status).to.equal(201);
  });

  it('422 names every broken rule, and nothing is stored', async () => {
    const before = await countKeys();
    const missing = await post({});
    expectProblem(missing, 422);
    expect(missing.json.errors).to.deep.equal([{ pointer: '/name', detail: 'is required' }]);
    const wrong = await post({ name: 5 });
    expect(wrong.json.errors).to.deep.equal([{ pointer: '/name', detail: 'must be a string' }]);
    const blank = await post({ name: '   ' });
    expect(blank.json.errors).to.deep.equal([
      { pointer: '/name', detail: 'must have 1 to 200 characters, not only spaces' },
    ]);
    expectProblem(await post([]), 422);
    expectProblem(await post('null'), 422);
    expect(await countKeys()).to.equal(before);
    const id = await server.request('DELETE', `${keys}/not-a-uuid`);
    expectProblem(id, 422);
    expect(id.json.errors).to.deep.equal([{ pointer: '{key_id}', detail: 'must be a UUID' }]);
  });

  it('a member __proto__ changes nothing', async () => {
    const response = await post('{"__proto__":{"name":"inherited","polluted":true}}');
    expectProblem(response, 422);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  describe('requests that are no HTTP', () => {
    const raw = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(server.port, '127.0.0.1');
        let answer = '';
        socket.on('data', (chunk) => (answer += chunk.toString()));
        socket.on('close', () => resolve(answer));
        socket.on('error', reject);
        socket.write(text);
      });

    it('400 as problem+json', async () => {
      const answer = await raw('NONSENSE\r\n\r\n');
      expect(answer).to.match(/^HTTP\/1\.1 400 /);
      expect(answer).to.include('application/problem+json');
    });

    it('431 for too large headers', async () => {
      const answer = await raw(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`);
      expect(answer).to.match(/^HTTP\/1\.1 431 /);
    });
  });

  it('answers Expect: 100-continue with the refusal itself, before the body is sent', async () => {
    const statuses = await new Promise<(number | string)[]>((resolve, reject) => {
      const seen: (number | string)[] = [];
      const request = httpRequest(server.url + keys, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '1000', expect: '100-continue' },
      });
      request.on('continue', () => seen.push('continue'));
      request.on('response', (response) => {
        seen.push(response.statusCode ?? 0);
        request.destroy();
        resolve(seen);
      });
      request.on('error', reject);
      request.flushHeaders();
    });
    expect(statuses).to.deep.equal([401]);
  });
});
