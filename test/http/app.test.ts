import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { eventually } from './app-harness.js';
import { httpFrame } from './frame-routes.js';
import { send } from '../harness/server.js';

httpFrame((on) => {
  it('maps what went wrong to status and headers', async () => {
    const conflict = await on.ask('/fail/conflict');
    expect([conflict.status, conflict.json.detail]).to.deep.equal([409, 'told']);
    for (const [kind, status] of [
      ['overloaded', 429],
      ['unavailable', 503],
    ] as const) {
      const response = await on.ask(`/fail/${kind}`);
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([status, '3']);
    }
  });

  it('answers a defect with 500, says nothing of it, and reports it under the request id', async () => {
    for (const path of ['/fail/unexpected', '/fail/internal', '/fail/cyclic']) {
      const response = await on.ask(path, { 'x-request-id': 'find-me' });
      expect(response.status).to.equal(500);
      expect(response.json.request_id).to.equal('find-me');
      expect(response.text).to.not.match(/secret|TypeError|told|circular/i);
    }
    expect(on.app.failed.map(({ requestId }) => requestId)).to.deep.equal(['find-me', 'find-me', 'find-me']);
    expect(String(on.app.failed[0]?.error)).to.include('secret internals');
  });

  it('takes a sane request id and replaces any other', async () => {
    expect((await on.ask('/json', { 'x-request-id': 'a.B_c-9' })).headers.get('x-request-id')).to.equal('a.B_c-9');
    for (const bad of ['with space', 'x'.repeat(129), 'ü', '<script>']) {
      const given = (
        await on.ask('/json', { 'x-request-id': encodeURIComponent(bad) === bad ? bad : bad.replace('ü', '\u00fc') })
      ).headers.get('x-request-id');
      expect(given).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('sends security headers, and not what it is made of', async () => {
    const { headers } = await on.ask('/json');
    expect(headers.get('x-powered-by')).to.equal(null);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-total-count')).to.equal('7');
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await send(`${on.app.url}/json`, 'HEAD', {});
    expect([head.status, head.text, head.headers.get('content-length')]).to.deep.equal([200, '', '16']);
    expect((await send(`${on.app.url}/stream`, 'HEAD', {})).text).to.equal('');
    expect(on.frame.source?.destroyed).to.equal(true);
  });

  it('routes a suffix after a parameter', async () => {
    expect((await send(`${on.app.url}/judges/7:run`, 'POST', {})).json).to.deep.equal({ run: '7' });
    expect((await send(`${on.app.url}/judges/a%3Ab:run`, 'POST', {})).json).to.deep.equal({ run: 'a:b' });
    expect((await on.ask('/judges/7')).status).to.equal(200);
    const other = await on.ask('/judges/7:run');
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'POST']);
  });

  it('observes requests by their template, never by their path', async () => {
    await send(`${on.app.url}/judges/7:run`, 'POST', {});
    await on.ask('/judges/7');
    await send(`${on.app.url}/nowhere/secret`, 'GET', { key: on.app.key });
    await eventually(() => on.app.finished.length === 3, 'three requests observed');
    expect(on.app.finished.map(({ route, status }) => [route, status])).to.deep.equal([
      ['/judges/{judge_id}:run', 200],
      ['/judges/{judge_id}', 200],
      ['unmatched', 404],
    ]);
  });

  describe('queries', () => {
    it('are read by their schema', async () => {
      const all = await on.ask(
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
      expect((await on.ask('/query')).json).to.deep.equal({ limit: 5 });
    });

    it('take a value in every form that any route takes', async () => {
      const read = async (query: string) => (await on.ask(`/query?${query}`)).json;
      for (const text of ['true', 'TRUE', '1']) expect(await read(`has_error=${text}`)).to.include({ has_error: true });
      for (const text of ['false', 'False', '0'])
        expect(await read(`has_error=${text}`)).to.include({ has_error: false });
      for (const text of ['%2B5', '5.', '05', '.5e1']) expect(await read(`cost=${text}`), text).to.include({ cost: 5 });
      for (const text of ['a,b', 'a,,b,', 'a&names=b'])
        expect((await read(`names=${text}`)).names).to.deep.equal(['a', 'b']);
      expect((await read('names=a,b%252Cc')).names).to.deep.equal(['a', 'b,c']);
    });

    it('with bad values are 422, each named', async () => {
      const bad = await on.ask('/query?limit=11&cost=abc&has_error=yes&id=1&order=up');
      expect(bad.status).to.equal(422);
      expect(bad.json.errors).to.deep.equal([
        { pointer: '?limit', detail: 'must be at most 10' },
        { pointer: '?cost', detail: 'must be a number' },
        { pointer: '?has_error', detail: 'must be true or false' },
        { pointer: '?id', detail: 'must be a UUID' },
        { pointer: '?order', detail: 'must be one of asc, desc' },
      ]);
      for (const value of ['', '1.5', '0', 'NaN', '9'.repeat(30), '1&limit=2']) {
        expect((await on.ask(`/query?limit=${value}`)).status, value).to.equal(422);
      }
      for (const value of ['', 'Infinity', '0x10', '1e999']) {
        expect((await on.ask(`/query?cost=${value}`)).status, value).to.equal(422);
      }
    });

    it('with bad percent-encoding are 400', async () => {
      expect((await on.ask('/query?limit=%ZZ')).status).to.equal(400);
      expect((await on.ask('/query?tag=%FF')).status).to.equal(400);
    });
  });

  it('tells a handler when the client goes away', async () => {
    const request = httpRequest(`${on.app.url}/wait`).end();
    request.on('error', () => undefined);
    await eventually(() => on.frame.aborted !== undefined, 'the handler runs');
    request.destroy();
    await on.frame.aborted;
    await eventually(() => on.app.finished.length === 1, 'the request ended');
    expect(on.app.finished[0]).to.include({ status: 499 });
  });

  describe('stopping', () => {
    it('finishes what is in work and closes idle connections', async () => {
      on.frame.aborted = undefined;
      await on.ask('/json'); // leaves a kept-alive connection
      const waiting = on.ask('/wait');
      await eventually(() => on.frame.aborted !== undefined, 'the handler runs');
      const stopped = on.app.stop(5_000);
      await delay(100);
      expect(await on.ask('/json').catch(() => 'refused')).to.equal('refused');
      on.frame.release();
      expect((await waiting).json).to.deep.equal({ waited: true });
      const started = performance.now();
      await stopped;
      expect(performance.now() - started).to.be.below(unhurried(1_000));
    });

    it('cuts off what is not done by the deadline', async () => {
      on.frame.aborted = undefined;
      const waiting = on.ask('/wait').catch(() => 'cut off');
      await eventually(() => on.frame.aborted !== undefined, 'the handler runs');
      const started = performance.now();
      await on.app.stop(200);
      expect(performance.now() - started).to.be.below(unhurried(1_500));
      expect(await waiting).to.equal('cut off');
    });
  });
});
