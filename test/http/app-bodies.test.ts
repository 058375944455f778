import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { bootApp, eventually } from './app-harness.js';
import { httpFrame } from './frame-routes.js';
import { send } from '../harness/server.js';

httpFrame((on) => {
  describe('bodies', () => {
    const post = (body: unknown) => send(`${on.app.url}/items`, 'POST', { body, key: on.app.key });

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
        'half a million bad items',
        () => `[${Array.from({ length: 500_000 }, () => '{"id":"nonsense, and long"}').join(',')}]`,
      ],
      ['very many bad tags', () => `[{"tags":{${Array.from({ length: 90_000 }, (_, i) => `"k${i}":[]`).join(',')}}}]`],
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
      const taken = await send(`${on.app.url}/raw`, 'POST', { body: Buffer.from([1, 2, 3]), key: on.app.key, headers });
      expect(taken.json).to.deep.equal({ type: 'application/x-protobuf', bytes: 3 });
      const refused = await send(`${on.app.url}/raw`, 'POST', { body: 'x', headers });
      expect(refused.status).to.equal(401);
      expect(refused.headers.get('www-authenticate')).to.match(/^Bearer/);
      expect(refused.headers.get('content-type')).to.equal('application/x-protobuf; v=1');
      expect(refused.text).to.match(/^401: /);
      const other = await send(`${on.app.url}/raw`, 'PUT', { body: 'x', key: on.app.key, headers });
      expect([other.status, other.text.slice(0, 3)]).to.deep.equal([405, '405']);
    });

    it('that come too slowly are given up with 408', async () => {
      await on.app.stop();
      on.app = await bootApp(on.frame.routes, { readTimeoutMs: 300 });
      const started = performance.now();
      const request = httpRequest(`${on.app.url}/items`, {
        method: 'POST',
        headers: { authorization: `Bearer ${on.app.key}`, 'content-type': 'application/json', 'content-length': '100' },
      });
      request.write('[');
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).to.equal(408);
      expect(performance.now() - started).to.be.within(250, unhurried(2_000));
      request.destroy();
    });

    it('are 429 while others fill the memory set aside, and taken again afterwards', async () => {
      const headers = {
        authorization: `Bearer ${on.app.key}`,
        'content-type': 'application/json',
        'content-length': '39000000',
      };
      const first = httpRequest(`${on.app.url}/items`, { method: 'POST', headers });
      first.on('error', () => undefined);
      const sent = new Promise((resolve) => first.write(Buffer.alloc(30_000_000, ' '), resolve));
      await sent;
      const second = await post(`[]${' '.repeat(30_000_000)}`);
      expect([second.status, second.headers.get('retry-after')]).to.deep.equal([429, '1']);
      first.destroy();
      await eventually(() => on.app.finished.some(({ status }) => status === 499), 'the first upload ended');
      expect((await post(`[]${' '.repeat(30_000_000)}`)).status).to.equal(200);
    }).timeout(10_000);

    it('whose client goes away do not disturb anything', async () => {
      const socket = connect(on.app.port, '127.0.0.1');
      socket.write(
        `POST /items HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${on.app.key}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[`,
      );
      await delay(50);
      socket.resetAndDestroy();
      await eventually(() => on.app.finished.length === 1, 'the request ended');
      expect(on.app.finished[0]).to.include({ status: 499, route: '/items' });
      expect(on.app.failed).to.deep.equal([]);
      expect((await on.ask('/json')).status).to.equal(200);
    });
  });

  describe('streams', () => {
    it('wait for a slow client and end when it goes away', async () => {
      // Bodies of the tests before may not be collected yet.
      const before = process.memoryUsage().arrayBuffers;
      const request = httpRequest(`${on.app.url}/stream`).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.pause();
      await delay(200);
      // What is not read must not pile up here: only what the sockets hold was taken from the source.
      expect(on.frame.source?.readableLength).to.be.below(1_000_000);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(50_000_000);
      response.destroy();
      await eventually(() => on.frame.source?.destroyed === true, 'the source was destroyed');
      expect(on.app.failed).to.deep.equal([]);
    });

    it('that end because their client left are no defect', async () => {
      const request = httpRequest(`${on.app.url}/stream/of-the-client`).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await once(response, 'data');
      response.destroy();
      await eventually(() => on.frame.source?.destroyed === true, 'the source was destroyed');
      await eventually(() => on.app.finished.length === 1, 'the request ended');
      await delay(50);
      expect(on.app.failed).to.deep.equal([]);
    });

    it('that fail before the first byte are answered with the error', async () => {
      const response = await on.ask('/stream/broken-at-once');
      expect([response.status, response.json.detail]).to.deep.equal([503, 'the store is gone']);
    });

    it('that fail later are cut off, so that nobody takes a part for the whole', async () => {
      const outcome = await on.ask('/stream/broken-later').then(
        () => 'complete',
        () => 'cut off',
      );
      expect(outcome).to.equal('cut off');
      expect(on.app.failed).to.have.length(1);
    });
  });
});
