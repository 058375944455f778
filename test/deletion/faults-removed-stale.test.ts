import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList, traceList, type ListDefinition } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { unhurried } from '../harness/program.js';
import { storedSpan } from '../harness/span.js';
import { openStore, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';

const SPANS = 100_000;
const AT_ONCE = 10_000;
/** Too little to compute such a trace anew. */
const LITTLE_MEMORY = { maxMemoryBytes: 40_000_000, retryMs: 500 };

describe('removing a trace that is too large to be computed anew @slow', function () {
  this.timeout(unhurried(120_000));
  let opened: OpenedStore;
  const project = randomUUID();

  before(async () => {
    opened = await openStore();
    await opened.store.close();
  });
  after(() => opened.dispose());

  it('takes its spans off the lists at once, and the trace once they are purged', async () => {
    const trace_id = randomUUID();
    const roomy = await reopenStore(opened.client);
    for (let from = 0; from < SPANS; from += AT_ONCE)
      await roomy.log.append({
        projectId: project,
        spans: Array.from({ length: AT_ONCE }, () => storedSpan({ trace_id, cost: 1 })),
      });
    await roomy.rollUp(project);
    await roomy.close();

    const store = await reopenStore(opened.client, { rollup: LITTLE_MEMORY });
    const listed = async (list: ListDefinition) =>
      (await rowsOf<object>(await store.lists[list.name](project, parseListQuery(list, new URLSearchParams())))).length;
    expect(await listed(traceList)).to.equal(1);
    const below = await store.deletions.below(project, 'trace', trace_id);
    await store.deletions.removeTraces(project, [trace_id], below?.upTo ?? 0);
    expect(await listed(spanList)).to.equal(0);
    await store.purge();
    while ((await listed(traceList)) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    await store.close();
  });
});
