import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RawClient } from '../harness/raw-client.js';
import { unhurried, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const DRIPPING = 300;
const DRIP_MS = 500;
/** Of every installation; Node.js looks every second. */
const HEADERS_WITHIN_MS = 15_000;
const IDLE = 3_000;
/** Addresses of this machine that the idle connections come from: one alone would have half of all. */
const ADDRESSES = 30;
const SERVED_WITHIN_MS = 3_000;
const HEADERS = `POST /spans HTTP/1.1\r\nHost: x\r\nX-Padding: ${'a'.repeat(1_000)}`;

describe('connections that say little or nothing @alone', function () {
  this.timeout(120_000);
  let programs: Programs;
  let program: Program;
  let port: number;
  let clients: RawClient[] = [];
  const stops: (() => Promise<void>)[] = [];

  before(async () => {
    programs = await Programs.make();
    program = await programs.start();
    port = Number(new URL(program.url).port);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const { socket } of clients) socket.destroy();
    clients = [];
  });
  after(() => programs.dispose());

  const crowd = new Crowd(4, 5);
  const load = () => {
    const stop = crowd.start(program);
    stops.push(stop);
    return stop;
  };

  /** What the crowd does is served throughout. */
  async function expectServed(stop: () => Promise<void>): Promise<void> {
    await crowd.served();
    await stop();
    expect(crowd.tally).to.include({ refused: 0, broken: 0 });
    expect(crowd.tally.wrong).to.deep.equal([]);
    expect(crowd.tally.slowestMs, 'ms of the slowest request').to.be.below(unhurried(SERVED_WITHIN_MS));
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  }

  it(`${DRIPPING} that send their headers byte by byte: others are served meanwhile, and these are ended with 408`, async () => {
    clients = Array.from({ length: DRIPPING }, () => new RawClient(port));
    let sent = 0;
    const drip = setInterval(() => {
      for (const { socket, closed } of clients) if (!closed) socket.write(HEADERS.charAt(sent % HEADERS.length));
      sent += 1;
    }, DRIP_MS);
    const from = performance.now();
    try {
      const stop = load();
      const answers = await Promise.all(clients.map((client) => client.status(unhurried(HEADERS_WITHIN_MS + 10_000))));
      expect(performance.now() - from, 'ms').to.be.above(HEADERS_WITHIN_MS - 1_000);
      expect(new Set(answers)).to.deep.equal(new Set([408]));
      await expectServed(stop);
    } finally {
      clearInterval(drip);
    }
  });

  it(`${IDLE} idle ones: others are served meanwhile, and one that then asks is too`, async () => {
    const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    clients = Array.from({ length: IDLE }, (_, index) => new RawClient(port, `127.0.1.${1 + (index % ADDRESSES)}`));
    for (const { socket } of clients) socket.write(request);
    const answers = await Promise.all(clients.map((client) => client.status(unhurried(20_000))));
    expect(new Set(answers)).to.deep.equal(new Set([200]));
    const stop = load();
    await sleep(3_000);
    await expectServed(stop);
    expect(clients.filter(({ closed }) => closed)).to.have.length(0);
    const [first] = clients;
    if (first === undefined) throw new Error('there is no connection');
    first.received = '';
    first.socket.write(request);
    expect(await first.status()).to.equal(200);
    const { status } = await program.request('POST', '/spans', [
      { id: randomUUID(), trace_id: randomUUID(), name: 'late', started_at: '2026-01-01T00:00:00Z' },
    ]);
    expect(status).to.equal(200);
  });
});
