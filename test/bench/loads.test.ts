import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { singleBodies } from '../../bench/bodies.js';
import { startSteadyLoad } from '../../bench/processes/steady.js';
import { timeClients } from '../../bench/timed-calls.js';
import { unhurried } from '../harness/program.js';

/** Answers everything, and keeps the bodies it was sent and how many connections there were. */
async function listening() {
  const bodies: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      bodies.push(Buffer.concat(pieces).toString());
      response.end('[]');
    });
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const dispose = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, key: 'sk_sh_of_nobody', bodies, connections: () => connections, dispose };
}

describe('a load of the bench that sends some requests again', () => {
  const bodies = singleBodies(1, 20);

  /** What a load of that kind has sent by the time that it has sent as much as `requests`. */
  async function sentBy(variation: { repeated?: number; series?: number }, requests: number): Promise<string[]> {
    const server = await listening();
    try {
      // One client, so that they come in the order they are sent in.
      const { url, key } = server;
      const load = startSteadyLoad(bodies, { url, key, clients: 1, refusable: true }, variation);
      while (server.bodies.length < requests) await new Promise((done) => setTimeout(done, 10));
      await load.stop();
      return server.bodies.slice(0, requests);
    } finally {
      server.dispose();
    }
  }

  for (const [repeated, again] of [
    [0, 0],
    [0.05, 10],
    [0.5, 100],
  ] as const)
    it(`repeats ${repeated * 100} % of them to the byte, and has other ids in the rest`, async () => {
      const sent = await sentBy({ repeated }, 200);
      expect(new Set(sent).size).to.equal(200 - again);
      const ids = new Set(sent.map((body) => (JSON.parse(body) as [{ id: string }])[0].id));
      expect(ids.size).to.equal(200 - again);
    });

  it('shares no id with a load of the same bodies that has another number', async () => {
    const [first, second] = [await sentBy({}, 60), await sentBy({ series: 1 }, 60)];
    const idsOf = (sent: string[]) => sent.map((body) => (JSON.parse(body) as [{ id: string }])[0].id);
    expect(idsOf(first)).to.have.length(60);
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).to.equal(120);
  });
});

describe('timed calls of the bench', () => {
  it('are made by as many clients at once as they should, each in an order of its own', async () => {
    const server = await listening();
    try {
      const calls = ['a', 'b'].map((name) => ({ name, request: (round: number) => ({ path: `/${name}/${round}` }) }));
      const outcomes = await timeClients(server, calls, { clients: 3, seconds: 0 }, () => undefined);
      expect(outcomes.map(({ name, latencies, failures }) => [name, latencies.length, failures])).to.deep.equal([
        ['a', 3, []],
        ['b', 3, []],
      ]);
      expect(server.connections()).to.equal(3);
    } finally {
      server.dispose();
    }
  });

  it('let the time pass where there are none', async () => {
    const started = performance.now();
    const nowhere = { url: 'http://127.0.0.1:9', key: 'none' };
    expect(await timeClients(nowhere, [], { clients: 1, seconds: 0.2 }, () => undefined)).to.deep.equal([]);
    expect(performance.now() - started).to.be.within(199, unhurried(5_000));
  });
});
