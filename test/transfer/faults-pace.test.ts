import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { GrpcExporter, message } from '../otlp/grpc-exporter.js';
import { otlpSpan } from '../otlp/requests.js';
import { bootTarget, exported, fill, imported, inFolder } from './moved-project.js';

/** Of clients: they call all the time, and leave the processor to the import. */
const CALL_PAUSE_MS = 20;

describe('imports into a server', function () {
  this.timeout(120_000);
  /** Requests at once: more than may wait beside clients. */
  const BURST = 60;
  let source: TestServer;
  let target: TestServer;
  let exporter: GrpcExporter;
  let record: object;
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget({ env: { OTLP_GRPC_PORT: '0' } })];
    exporter = new GrpcExporter(target);
    await fill(source);
    const { json } = await source.request('GET', `/projects/${source.projectId}/export/spans?limit=1`);
    record = json.records[0];
  });
  after(async () => {
    exporter.close();
    await source.dispose();
    await target.dispose();
  });

  const ok = ({ status }: { readonly status: number }) => expect(status).to.equal(200);
  const write = async () => {
    const span = { trace_id: randomUUID(), name: 'mine', started_at: '2026-01-15T10:00:00Z' };
    ok(await target.request('POST', '/spans', { body: [span] }));
  };

  /** Does work while somebody calls all the time, until it says that that is enough. */
  async function beside<T>(call: () => Promise<unknown>, work: (enough: () => void) => Promise<T>): Promise<T> {
    let [going, calls] = [true, 0];
    const enough = () => {
      going = false;
    };
    const calling = (async () => {
      for (; going; calls += 1) {
        await call();
        await sleep(CALL_PAUSE_MS);
      }
    })();
    try {
      await Promise.race([calling, until('a call is answered', () => calls > 0)]);
      return await work(enough);
    } finally {
      enough();
      await calling;
    }
  }

  /** How many requests of an import are answered by each status. */
  async function burst(refused: () => void): Promise<Record<number, number>> {
    const path = `/projects/${target.projectId}/import/spans`;
    const counts: Record<number, number> = {};
    const one = async () => {
      const body = [{ ...record, id: randomUUID(), trace_id: randomUUID() }];
      const { status } = await target.request('POST', path, { body });
      counts[status] = (counts[status] ?? 0) + 1;
      if (status === 429) refused();
    };
    await Promise.all(Array.from({ length: BURST }, one));
    return counts;
  }

  it('go on at once while nobody but monitoring calls', async () => {
    for (const path of ['/healthz', '/metrics'])
      expect(await beside(async () => ok(await target.request('GET', path)), burst)).to.deep.equal({ 200: BURST });
  });

  it('make way for whoever writes or reads, however that is', async () => {
    const calls = [
      async () => ok(await target.request('GET', '/traces?limit=1')),
      async () => expect((await exporter.send(message(otlpSpan()))).code).to.equal(status.OK),
    ];
    for (const call of calls) expect(await beside(call, burst)).to.have.keys('200', '429');
  });

  it('come to their end beside clients, with everything', () =>
    inFolder(async (file) => {
      await exported(source, file('p.ndjson'));
      const { parts } = await beside(write, () => imported(target, file('p.ndjson')));
      for (const { part, inFile, stored, unchanged } of parts) expect(stored + unchanged, part).to.equal(inFile);
    }));
});
