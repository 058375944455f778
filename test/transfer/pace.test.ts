import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ImportPace } from '../../src/features/transfer/import-pace.js';
import { until } from '../harness/until.js';

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

// Beside calls of a server: faults-pace.test.ts.
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
