import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList, traceList, type ListDefinition } from '../../src/engine/traces/model/list/definitions.js';
import { DomainError } from '../../src/engine/errors.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { statementOf } from '../harness/statement.js';
import { openStore, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';

type Store = OpenedStore['store'];

/** A client whose first statement of this form fails. */
function failingOnce(client: ClickHouseClient, form: RegExp): ClickHouseClient {
  let failed = false;
  const command: ClickHouseClient['command'] = async (statement, options) => {
    if (!failed && form.test(statement.render().text)) {
      failed = true;
      throw new DomainError('unavailable', 'a failure of the test');
    }
    return client.command(statement, options);
  };
  return new Proxy(client, {
    get: (target, name: keyof ClickHouseClient) => (name === 'command' ? command : target[name].bind(target)),
  });
}

describe('a purge of whole traces that is cut off', () => {
  let opened: OpenedStore;
  const project = randomUUID();

  before(async () => {
    opened = await openStore();
    await opened.store.close();
  });
  after(() => opened.dispose());

  async function listed(store: Store): Promise<number[]> {
    const of = (list: ListDefinition) => parseListQuery(list, new URLSearchParams('limit=500'));
    const [spans, traces] = [
      await rowsOf<object>(await store.lists.spans(project, of(spanList))),
      await rowsOf<object>(await store.lists.traces(project, of(traceList))),
    ];
    return [spans.length, traces.length];
  }

  async function removeSome(store: Store): Promise<void> {
    const trace_id = randomUUID();
    const started_at = Date.now() * 1000;
    const spans = [0, 1].map((at) => storedSpan({ trace_id, started_at: started_at + at, input_data: 'secret' }));
    await store.log.append({ projectId: project, spans });
    const below = await store.deletions.below(project, 'trace', trace_id);
    await store.deletions.removeTraces(project, [trace_id], below?.upTo ?? 0);
    expect(await listed(store)).to.deep.equal([0, 0]);
  }

  async function expectGone(store: Store): Promise<void> {
    await store.purge();
    expect(await listed(store)).to.deep.equal([0, 0]);
    for (const table of ['spans', 'superseded'])
      expect(await opened.client.query(statementOf(`SELECT ver FROM ${table}`)), table).to.deep.equal([]);
  }

  for (const table of ['spans', 'facts', 'superseded'])
    it(`before it took them out of ${table} shows nothing of them again`, async () => {
      const store = await reopenStore(failingOnce(opened.client, new RegExp(`^DELETE FROM .?${table}\\b`)));
      await removeSome(store);
      expect(await store.purgeRemovedTraces().catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      expect(await listed(store)).to.deep.equal([0, 0]);
      await expectGone(store);
      await store.close();
    });

  it('by a stop, while it waits for other work of ClickHouse, shows nothing of them again', async () => {
    const store = await reopenStore(opened.client);
    await removeSome(store);
    const command = (text: string) => opened.client.command(statementOf(text));
    await command('SYSTEM STOP MERGES spans');
    await command('ALTER TABLE spans DELETE WHERE ver = 1 SETTINGS mutations_sync = 0');
    const purging = store.purgeRemovedTraces().catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await store.close();
    expect(await purging).to.be.instanceOf(DomainError);
    await command('SYSTEM START MERGES spans');
    const next = await reopenStore(opened.client);
    expect(await listed(next)).to.deep.equal([0, 0]);
    await expectGone(next);
    await next.close();
  });
});
