import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { unhurried } from '../harness/program.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { secondProject } from '../prompts/prompt-api.js';

/** More than the server has connections to ClickHouse for reads. */
const READERS = 80;
const SPANS = 12;
const MEGABYTE = 1024 * 1024;
/** An answer that comes later than this had to wait for the slow ones. */
const PROMPTLY_MS = 4_000;
const span = (name: string) => ({ trace_id: '0197f3a0-0000-7000-8000-00000000000a', name, started_at: 1_700_000_000 });

/** A client that asks for a page and reads only what it is told to read. */
class Reader {
  readonly socket: Socket;
  received = '';
  bytes = 0;
  closed = false;
  #sipping = false;

  constructor({ port, key }: Pick<TestServer, 'port' | 'key'>, path: string) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
    this.socket.on('data', (data: Buffer) => {
      this.bytes += data.length;
      if (this.#sipping) this.socket.pause();
      if (this.received.length < 4096) this.received += data.toString('latin1');
    });
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
    this.socket.pause();
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1] ?? 0);
  }

  /** Reads a piece, of at most 64 KB, every so often. @returns what stops it */
  sipEvery(ms: number): () => void {
    this.#sipping = true;
    const timer = setInterval(() => this.socket.resume(), ms);
    return () => {
      this.#sipping = false;
      clearInterval(timer);
    };
  }

  async end(withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    while (!this.closed) {
      if (Date.now() > until) throw new Error(`still open after ${withinMs} ms`);
      await delay(20);
    }
  }
}

describe('clients that take their answers slowly', function () {
  this.timeout(120_000);
  let server: TestServer;
  let otherKey: string;
  let readers: Reader[] = [];
  let log = '';

  before(async () => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        log += String(chunk);
        done();
      },
    });
    server = await bootServer({
      logger: createLogger({ level: 'warn', format: 'json' }, stream),
      limits: { readWaitMs: 3_000, answerWindowMs: 2_000, answerMinBytesPerSecond: 100_000 },
    });
    otherKey = secondProject(server).key;
    const spans = Array.from({ length: SPANS }, (_, index) => ({
      ...span(`large ${index}`),
      input_data: 'x'.repeat(MEGABYTE),
    }));
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
  });
  after(() => server.dispose());
  afterEach(async () => {
    for (const { socket } of readers) socket.destroy();
    await Promise.all(readers.map((reader) => reader.end(10_000)));
    readers = [];
  });

  /** How many answers were cut off. */
  const cutOff = () => log.split('"event":"answerCutOff"').length - 1;
  const read = () => {
    const reader = new Reader(server, '/spans');
    readers.push(reader);
    return reader;
  };

  it('keep nobody of another project from writing and reading, and queue behind themselves', async () => {
    for (let count = 0; count < READERS; count += 1) read();
    await delay(1_000);
    for (let round = 0; round < 3; round += 1) {
      const from = performance.now();
      const written = await send(`${server.url}/spans`, 'POST', { key: otherKey, body: [span(`small ${round}`)] });
      const found = await send(`${server.url}/spans?names=small%20${round}`, 'GET', { key: otherKey });
      const traces = await send(`${server.url}/traces`, 'GET', { key: otherKey });
      expect([written.status, found.status, traces.status]).to.deep.equal([200, 200, 200]);
      expect(found.json).to.have.length(1);
      expect(performance.now() - from, 'ms').to.be.below(unhurried(PROMPTLY_MS));
    }
    // Those beyond the project's share are refused in time, and told when to come again.
    for (const { socket } of readers) socket.resume();
    await Promise.all(readers.map((reader) => reader.end(60_000)));
    const refused = readers.filter(({ status }) => status === 429);
    expect(refused, 'refused').not.to.have.length(0);
    for (const { received } of refused) expect(received).to.match(/\r\nRetry-After: \d+\r\n/);
    expect(readers.filter(({ status }) => status === 200)).not.to.have.length(0);
  });

  it('are cut off, so that what they held is free again', async () => {
    const before = cutOff();
    const slow = [read(), read()];
    const sips = slow.map((reader) => reader.sipEvery(1_000));
    // The server measures the rate of an answer from its begin on.
    await until('both answers have begun', () => slow.every(({ status }) => status > 0));
    await until('both are cut off', () => cutOff() >= before + slow.length);
    for (const stop of sips) stop();
    for (const { socket } of slow) socket.resume();
    await Promise.all(slow.map((reader) => reader.end(10_000)));
    for (const { status, bytes } of slow) {
      expect(status).to.equal(200);
      expect(bytes).to.be.below(SPANS * MEGABYTE);
    }
  });

  it('have their whole answer when they are only just fast enough', async () => {
    const steady = read();
    const stop = steady.sipEvery(30);
    await steady.end(60_000).finally(stop);
    expect(steady.bytes).to.be.above(SPANS * MEGABYTE);
  });
});
