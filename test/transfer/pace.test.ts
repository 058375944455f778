import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { ImportPace } from '../../src/features/transfer/import-pace.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { GrpcExporter, message } from '../otlp/grpc-exporter.js';
import { otlpSpan } from '../otlp/requests.js';
import { bootTarget, exported, fill, imported, inFolder } from './moved-project.js';

/** Of clients: they call all the time, and leave the processor to the import. */
const CALL_PAUSE_MS = 20;
/** How long a request takes at least. */
const WORK_MS = 30;

const governorOf = (clientsCall: () => boolean) => ({
  get clientsCall() {
    return clientsCall();
  },
});
const paceOf = (besideClients: () => boolean) =>
  new ImportPace({ governor: governorOf(besideClients), rolledUp: () => Promise.reject(new Error('nothing answers')) });

/** Requests of an import whose work ends when the test says so. */
class Requests {
  readonly #pace: ImportPace;
  /** What ends those under way, by name. */
  readonly underWay = new Map<string, () => void>();

  constructor(pace: ImportPace) {
    this.#pace = pace;
  }

  begin(name: string, project = 'p', signal?: AbortSignal): Promise<void> {
    const work = async () => {
      await new Promise<void>((resolve) => this.underWay.set(name, resolve));
      this.underWay.delete(name);
    };
    return this.#pace.run(project, work, signal);
  }

  get names(): string[] {
    return [...this.underWay.keys()];
  }

  /** Ends one that is under way, or will be. */
  async end(name: string): Promise<void> {
    await until(`${name} is under way`, () => this.underWay.has(name));
    this.underWay.get(name)?.();
  }
}

describe('the pace of imports', () => {
  it('is theirs while they are alone', async () => {
    const requests = new Requests(paceOf(() => false));
    const names = ['a', 'b', 'c', 'd', 'e'];
    const all = names.map((name) => requests.begin(name));
    expect(requests.names).to.deep.equal(names);
    for (const name of names) await requests.end(name);
    await Promise.all(all);
  });

  it('is one request of all projects beside clients, in turn, with a pause behind each', async () => {
    const requests = new Requests(paceOf(() => true));
    const all = [
      requests.begin('a', 'p'),
      requests.begin('b', 'p'),
      requests.begin('c', 'p'),
      requests.begin('d', 'q'),
    ];
    for (const name of ['a', 'b', 'd', 'c']) {
      const waited = performance.now();
      await until('the next one is under way', () => requests.underWay.size > 0);
      if (name !== 'a') expect(performance.now() - waited, 'the pause').to.be.greaterThan(WORK_MS);
      await sleep(WORK_MS);
      expect(requests.names).to.deep.equal([name]);
      await requests.end(name);
      await all['abcd'.indexOf(name)];
    }
  });

  it('leaves time for what follows a request', async () => {
    let rolledUp: (() => void) | undefined;
    const pace = new ImportPace({
      governor: { clientsCall: true },
      rolledUp: () => new Promise<void>((resolve) => (rolledUp = resolve)),
    });
    const requests = new Requests(pace);
    const all = [requests.begin('a'), requests.begin('b')];
    await requests.end('a');
    await all[0];
    await until('it is waited for', () => rolledUp !== undefined);
    expect(requests.names).to.deep.equal([]);
    rolledUp?.();
    await requests.end('b');
    await all[1];
  });

  it('goes up again when clients are gone', async () => {
    let besideClients = true;
    const requests = new Requests(paceOf(() => besideClients));
    const slow = [requests.begin('a'), requests.begin('b')];
    await until('the first one is under way', () => requests.underWay.size === 1);
    besideClients = false;
    const fast = ['c', 'd'].map((name) => requests.begin(name));
    expect(requests.names).to.deep.equal(['a', 'c', 'd']);
    for (const name of ['a', 'b', 'c', 'd']) await requests.end(name);
    await Promise.all([...slow, ...fast]);
  });

  it('is not slowed by work that fails, nor by who waits no more', async () => {
    const pace = paceOf(() => true);
    const requests = new Requests(pace);
    const failing = pace.run('p', () => Promise.reject(new Error('failed'))).catch((error: unknown) => error);
    const gone = new AbortController();
    const left = requests.begin('left', 'p', gone.signal).catch((error: unknown) => error);
    const last = requests.begin('last');
    gone.abort(new Error('left'));
    expect(await failing).to.have.property('message', 'failed');
    expect(await left).to.have.property('message', 'left');
    await requests.end('last');
    await last;
  });
});

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
