import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BodyMemory } from '../../src/http/wire/body-memory.js';
import { unfold } from '../../src/http/wire/unfold.js';
import { feedbackApi } from '../feedback/feedback-api.js';
import { unhurried } from '../harness/program.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { RawClient } from '../harness/raw-client.js';
import { until } from '../harness/until.js';

const CONNECTIONS = 64;
const span = (name: string) => ({ trace_id: '0197f3a0-0000-7000-8000-00000000000a', name, started_at: 1_700_000_000 });

/** Memory for bodies is 4 MB here, of which one project may have half. */
describe('one client leaves room for the others', function () {
  this.timeout(60_000);
  let server: TestServer;
  let otherKey: string;
  let linkPath: string;
  let clients: RawClient[] = [];

  before(async () => {
    server = await bootServer({
      env: {
        MAX_BODY_MB: '1',
        BODY_MEMORY_MB: '4',
        MAX_CONNECTIONS: String(CONNECTIONS),
        OTLP_GRPC_PORT: '0',
        TRUSTED_PROXIES: '1',
      },
      limits: {
        uploadWindowMs: 2_000,
        headersTimeoutMs: 1_000,
        reviewRequestsPerMinute: 40,
        reviewRequestsPerMinuteOfAddress: 30,
      },
    });
    otherKey = secondProject(server).key;
    const api = feedbackApi(server);
    await api.ensure('p');
    linkPath = new URL((await api.link({ prompt_slug: 'p' })).json.url).pathname;
  });
  after(() => server.dispose());
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await Promise.all(clients.map((client) => client.end()));
    clients = [];
  });

  const open = (client: RawClient) => {
    clients.push(client);
    return client;
  };
  const upload = (path: string, announced: number, sent: number, more: { key?: string; type?: string } = {}) => {
    const headers = { 'content-length': String(announced), 'content-type': more.type ?? 'application/json' };
    const key = more.key === undefined ? {} : { key: more.key };
    return open(RawClient.post({ port: server.port, path, headers, ...key }, Buffer.alloc(sent, ' ')));
  };
  /** @returns those that have an answer, once there are so many */
  const someAnswered = async (all: readonly RawClient[], count: number) => {
    const answered = () => all.filter(({ received }) => received !== '');
    await until(`${count} uploads are answered`, () => answered().length >= count);
    return answered();
  };
  const store = (key: string, bytes: number) =>
    send(`${server.url}/spans`, 'POST', { key, body: `${JSON.stringify([span('x')])}${' '.repeat(bytes)}` });

  it('of its memory for bodies, while uploads with its key stall', async () => {
    // Each sends most of a megabyte and no more.
    const stalled = Array.from({ length: 4 }, () => upload('/spans', 1_000_000, 900_000, { key: server.key }));
    const answered = await someAnswered(stalled, 2);
    expect(await Promise.all(answered.map((client) => client.status())), 'beyond its share').to.deep.equal([429, 429]);
    expect((await store(otherKey, 900_000)).status, 'of another project').to.equal(200);
    expect((await store(server.key, 500_000)).status, 'of the same key').to.equal(429);
    expect((await store(server.key, 1_000)).status, 'of the same key, small').to.equal(200);
    expect(await someAnswered(stalled, 2), 'still within its share').to.have.length(2);
  });

  it('of its memory for bodies, in however many pieces they come, and with however many keys', async () => {
    const pieces = async (key: string, count: number) => {
      const body = JSON.stringify([span('x')]);
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const request = httpRequest(`${server.url}/spans`, { method: 'POST', headers, agent: false });
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      request.on('error', () => undefined);
      for (let piece = 0; piece < count; piece += 1) request.write(' ');
      request.end(body);
      const [response] = await answered;
      response.resume();
      return response.statusCode;
    };
    expect(await pieces(server.key, 1_000)).to.equal(200);
    expect(await pieces(server.key, 8_000), 'two megabytes, for what they take besides their bytes').to.equal(429);
    const stalled = Array.from({ length: 4 }, () => upload('/spans', 1_000_000, 900_000, { key: server.key }));
    await someAnswered(stalled, 2);
    const { json } = await server.request('POST', `/projects/${server.projectId}/api-keys`, { body: { name: 'more' } });
    expect((await store(json.key, 500_000)).status, 'of another key of the project').to.equal(429);
    expect((await store(otherKey, 900_000)).status, 'of another project').to.equal(200);
  });

  it('of its memory for bodies, when it has no key, however much it sends to a feedback link', async () => {
    const path = `${linkPath}/feedback`;
    const form = 'application/x-www-form-urlencoded';
    const large = Array.from({ length: 9 }, () => upload(path, 16_000_000, 0, { type: form }));
    for (const client of large) expect(await client.status(), 'announced').to.equal(413);
    const chunked = open(
      RawClient.post(
        { port: server.port, path, headers: { 'content-type': form, 'transfer-encoding': 'chunked' } },
        `${(400_000).toString(16)}\r\n${'a&'.repeat(200_000)}\r\n`,
      ),
    );
    expect(await chunked.status(), 'not announced').to.equal(413);
    const stalled = Array.from({ length: 20 }, () => upload(path, 280_000, 270_000, { type: form }));
    await delay(300);
    expect((await store(server.key, 900_000)).status).to.equal(200);
    expect(stalled.map(({ received }) => received)).to.deep.equal(Array(20).fill(''));
  });

  it('by ending an upload that stalls or trickles, with 408 and the connection', async () => {
    const stalled = upload('/spans', 900_000, 100_000, { key: server.key });
    const trickling = upload('/spans', 900_000, 0, { key: server.key });
    const trickle = setInterval(() => trickling.socket.write(' '.repeat(10)), 100);
    try {
      const since = performance.now();
      expect([await stalled.status(20_000), await trickling.status(20_000)]).to.deep.equal([408, 408]);
      expect(performance.now() - since).to.be.within(3_500, unhurried(20_000));
      expect(stalled.received).to.include('less than 1024 bytes per second');
      await Promise.all([stalled.end(), trickling.end()]);
    } finally {
      clearInterval(trickle);
    }
  });

  it('but takes what is slow and small, or slow and steady', async () => {
    const body = JSON.stringify([span('slow')]);
    const small = upload('/spans', body.length, 0, { key: server.key });
    const steady = upload('/spans', 100_000, 0, { key: server.key });
    const padded = body.padEnd(100_000);
    for (let step = 0; step < 10; step += 1) {
      small.socket.write(body.slice(step * 10, step === 9 ? undefined : step * 10 + 10));
      steady.socket.write(padded.slice(step * 10_000, step * 10_000 + 10_000));
      await delay(600);
    }
    expect([await small.status(), await steady.status()]).to.deep.equal([200, 200]);
  });

  it('by ending a request whose headers do not come', async () => {
    const client = open(new RawClient(server.port));
    client.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    expect(await client.status()).to.equal(408);
  });

  it('of its connections over gRPC, which are closed beyond its share', async () => {
    const connections = (from: string, count: number) =>
      Array.from({ length: count }, () => open(new RawClient(server.grpcPort ?? 0, from)));
    const many = connections('127.0.0.5', CONNECTIONS);
    const [other] = connections('127.0.0.6', 1);
    const left = () => many.filter(({ closed }) => !closed);
    await until('those beyond it are closed', () => left().length <= CONNECTIONS / 2);
    await delay(300);
    expect(left()).to.have.length(CONNECTIONS / 2);
    expect(other?.closed).to.equal(false);
  });

  it('of the requests for a feedback link, of one address and of all', async () => {
    const { json } = await feedbackApi(server).link({ prompt_slug: 'p' });
    const visits = async (address: string, count: number) => {
      const headers = { 'x-forwarded-for': address };
      let refused = 0;
      for (let visit = 0; visit < count; visit += 1)
        if ((await send(json.url, 'GET', { headers })).status === 429) refused += 1;
      return refused;
    };
    expect(await visits('192.0.2.1', 35), 'of one address, too many').to.equal(5);
    expect(await visits('198.51.100.1', 20), 'for the link, too many').to.equal(10);
  });

  it('of its connections: 503 beyond its share, while another address is served', async () => {
    const get = async (from: string) => {
      const client = open(new RawClient(server.port, from));
      client.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      return client;
    };
    const held: RawClient[] = [];
    let beyond = await get('127.0.0.3');
    while ((await beyond.status()) === 200) {
      held.push(beyond);
      beyond = await get('127.0.0.3');
    }
    // Connections of the tests before count as well.
    expect(held.length).to.be.within(CONNECTIONS / 4, CONNECTIONS / 2);
    expect(await beyond.status()).to.equal(503);
    expect(beyond.received)
      .to.match(/\r\nRetry-After: 1\r\n/)
      .and.to.include('Too many open connections');
    await beyond.end();
    expect(await (await get('127.0.0.4')).status()).to.equal(200);
    for (const { socket } of held.slice(0, 3)) socket.destroy();
    // The server hears of it when it does.
    let again = await get('127.0.0.3');
    while ((await again.status()) === 503) again = await get('127.0.0.3');
    expect(await again.status()).to.equal(200);
  });
});

describe('a compressed body', () => {
  it('counts what it unfolds to while it unfolds, and nothing once it is given up', async () => {
    const memory = new BodyMemory({ maxBytesInWork: 2_000_000, maxPublicBytesInWork: 1 });
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const held = memory.ofProject('k');
    held.hold(bomb.length);
    const error = await unfold(bomb, 'gzip', 100_000_000, held).catch((thrown: unknown) => thrown);
    expect(error).to.include({ kind: 'overloaded' });
    held.end();
    const whole = memory.ofProject('k');
    whole.hold(1_000_000);
    expect(() => memory.ofProject('k').hold(1)).to.throw('Request bodies currently use too much memory');
    expect(() => memory.ofProject('another').hold(500_000)).to.not.throw();
  });

  it('holds nothing when its request ends while it unfolds', async () => {
    const memory = new BodyMemory({ maxBytesInWork: 2_000_000, maxPublicBytesInWork: 1 });
    const sent = gzipSync(Buffer.alloc(900_000));
    const held = memory.ofProject('k');
    held.hold(sent.length);
    const unfolding = unfold(sent, 'gzip', 1_000_000, held).catch((thrown: unknown) => thrown);
    held.end();
    expect(await unfolding).to.include({ kind: 'overloaded' });
    expect(() => memory.ofProject('k').hold(1_000_000)).to.not.throw();
  });
});
