import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { storedSpan } from '../harness/span.js';
import { COMMIT_LIMITS, openStore, reopenStore, type OpenedStore } from '../harness/trace-store.js';

const MEGABYTE = 1024 * 1024;
/** One large request fills a commit; eight, or half of them from one project, fill the queue. */
const LIMITS = { ...COMMIT_LIMITS, maxBytes: MEGABYTE, queueMaxBytes: 8 * MEGABYTE };
const LARGE = 900 * 1024;
const FLOOD = 20;

describe('a project that sends more than can be stored', () => {
  let opened: OpenedStore;
  let store: TraceStore;

  before(async () => {
    opened = await openStore();
    store = await reopenStore(opened.client, { commit: LIMITS });
  });
  after(async () => {
    await store.close();
    await opened.dispose();
  });

  const append = (projectId: string, bytes: number) =>
    store.log.append({ projectId, spans: [storedSpan({ input_data: 'x'.repeat(bytes) })] });

  it('leaves another one room in the queue and its turn in the next commit', async () => {
    const [flooding, small] = [randomUUID(), randomUUID()];
    const order: string[] = [];
    const flood = Array.from({ length: FLOOD }, () =>
      append(flooding, LARGE).then(
        () => order.push('flood'),
        (error: unknown) => {
          expect(error).to.be.instanceOf(DomainError).and.include({ kind: 'overloaded', retryAfterSeconds: 1 });
          order.push('refused');
        },
      ),
    );
    const others = [append(small, 100), append(small, LARGE)].map((stored, index) =>
      stored.then(() => order.push(`other ${index}`)),
    );
    await Promise.all([...flood, ...others]);

    const stored = order.filter((name) => name !== 'refused');
    expect(stored.filter((name) => name === 'flood')).to.have.length(4);
    // One commit is under way when they come; each then waits for one request of the flood at most.
    expect(stored.indexOf('other 0'), stored.join()).to.be.at.most(2);
    expect(stored.indexOf('other 1'), stored.join()).to.be.at.most(4);
  });

  it('may send everything that the queue holds in one request', async () => {
    await append(randomUUID(), 9 * MEGABYTE);
  });

  it('is told so before it does work for what it will send', async () => {
    const [flooding, other] = [randomUUID(), randomUUID()];
    const waiting = append(flooding, 5 * MEGABYTE);
    expect(() => store.log.admit(flooding))
      .to.throw(DomainError)
      .and.include({ kind: 'overloaded' });
    store.log.admit(other);
    await waiting;
    store.log.admit(flooding);
  });
});
