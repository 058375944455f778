import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { call } from './price-api.js';

const SPANS = 30_000;

describe('a request with as many models as spans', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await sharedServer();
  });
  after(() => server.dispose());

  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };

  /** The longest that the event loop was held, in milliseconds of processor time: other work of the machine does not count. */
  async function held(provider: string | undefined, modelOf: (index: number) => string): Promise<number> {
    const traceId = randomUUID();
    const spans = Array.from({ length: SPANS }, (_, index) => call(traceId, {}, { provider, model: modelOf(index) }));
    const body = Buffer.from(JSON.stringify(spans));
    const steps: number[] = [];
    let before = cpuMs();
    const watch = setInterval(() => {
      const now = cpuMs();
      steps.push(now - before);
      before = now;
    }, 2);
    const headers = { 'content-type': 'application/json', prefer: 'return=minimal' };
    const { status, json } = await server.request('POST', '/spans', { body, headers });
    clearInterval(watch);
    expect([status, json.length]).to.deep.equal([200, SPANS]);
    return Math.max(...steps);
  }

  for (const provider of ['openrouter', undefined])
    it(`leaves turns to others as one with a single model does, with ${provider ?? 'no'} provider`, async () => {
      const single = await held(provider, () => 'made-up/a');
      const many = await held(provider, (index) => `${index.toString(16)}/a`);
      console.log(`      ${Math.round(single)} ms, ${Math.round(many)} ms`);
      // Both hold it for as long as parsing takes.
      expect(many, 'milliseconds that the event loop was held').to.be.lessThan(2.5 * single + 100);
    });
});
