import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, reopenStore, rowsOf } from '../harness/trace-store.js';

const EVERYTHING = { started_after: null, started_before: null, provider: null, model: null };

/** A client that does something after each of its queries. */
function doing(after: (statement: string) => Promise<void>, client: ClickHouseClient): ClickHouseClient {
  const query: ClickHouseClient['query'] = async (statement, options) => {
    const rows = await client.query(statement, options);
    await after(statement.render().text);
    return rows as never;
  };
  return new Proxy(client, {
    get: (target, name: keyof ClickHouseClient) => (name === 'query' ? query : target[name].bind(target)),
  });
}

describe('purging while reads are under way', () => {
  let opened: OpenedStore;
  let store: TraceStore;
  let between: ((statement: string) => Promise<void>) | null = null;
  let projectId: string;
  let span: Span;

  before(async () => {
    opened = await openStore();
    await opened.store.close();
    const client = doing(async (statement) => {
      await between?.(statement);
    }, opened.client);
    store = await reopenStore(client);
  });
  after(async () => {
    await store.close();
    await opened.dispose();
  });
  beforeEach(async () => {
    projectId = randomUUID();
    span = storedSpan({ name: 'first', kind: 'llm', cost: 1, cost_calculated: true });
    await store.log.append({ projectId, spans: [span] });
  });

  async function spans(): Promise<{ name: string }[]> {
    return rowsOf(await store.lists.spans(projectId, parseListQuery(spanList, new URLSearchParams())));
  }

  /** Sends the span anew, and purges what it was. @returns how many versions went */
  async function replaceAndPurge(): Promise<number> {
    await store.log.append({ projectId, spans: [{ ...span, name: 'second' }] });
    await store.spans.find(projectId, []);
    return store.purge();
  }

  it('leaves what a list has counted until its page is read', async () => {
    let purged = -1;
    between = async (statement) => {
      if (!statement.includes('count() AS total')) return;
      between = null;
      purged = await replaceAndPurge();
    };
    const page = await store.lists.spans(projectId, {
      ...parseListQuery(spanList, new URLSearchParams()),
      count: true,
    });
    expect(purged).to.equal(0);
    expect(page.total).to.equal(1);
    expect(await rowsOf<{ name: string }>(page)).to.have.nested.property('[0].name', 'first');
    expect(await store.purge()).to.equal(1);
    expect(await spans()).to.have.nested.property('[0].name', 'second');
  });

  it('leaves what a revision looks at until it is closed', async () => {
    const revision = await store.calculated.open(projectId);
    const page = await revision.page(EVERYTHING, null, 10);
    expect(await replaceAndPurge()).to.equal(0);
    expect((await revision.read(page)).map((one) => one.span.name)).to.deep.equal(['first']);
    revision.close();
    expect(await store.purge()).to.equal(1);
  });

  it('leaves nothing for a read that has failed', async () => {
    between = () => Promise.reject(new Error('cut off'));
    const failed = store.entitySpans.exists(projectId, 'span', span.id).catch((error: unknown) => String(error));
    expect(await failed).to.contain('cut off');
    between = null;
    expect(await replaceAndPurge()).to.equal(1);
  });
});
