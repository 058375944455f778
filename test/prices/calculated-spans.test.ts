import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { RepriceScope } from '../../src/engine/traces/model/prices/calculated-spans.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove, rowsOf } from '../harness/trace-store.js';

const EVERYTHING: RepriceScope = { started_after: null, started_before: null, provider: null, model: null };
const START = Date.UTC(2026, 0, 15) * 1000;

const calculated = (change: Partial<Span> = {}) =>
  storedSpan({
    name: 'first',
    kind: 'llm',
    started_at: START,
    cost: 1,
    cost_calculated: true,
    attributes: { provider: 'acme', model: 'one', inputTokens: 1, outputTokens: 1 },
    ...change,
  });

describe('revising calculated costs', () => {
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  async function stored(projectId: string): Promise<Record<string, { name: string; cost: number | null }>> {
    const page = await opened.store.lists.spans(projectId, parseListQuery(spanList, new URLSearchParams()));
    const spans = await rowsOf<{ id: string; name: string; cost: number | null }>(page);
    return Object.fromEntries(spans.map(({ id, name, cost }) => [id, { name, cost }]));
  }

  it('loses to whatever was written or deleted after the look at it', async () => {
    const { log, calculated: spans, deletions } = opened.store;
    const projectId = randomUUID();
    const [kept, resent, deleted, elsewhere] = [calculated(), calculated(), calculated(), calculated()];
    await log.append({ projectId, spans: [kept, resent, deleted] });
    const revision = await spans.open(projectId);
    const found = await revision.read(await revision.page(EVERYTHING, null, 10));
    expect(found).to.have.length(3);
    await log.append({ projectId, spans: [{ ...resent, name: 'again' }] });
    await log.append({ projectId: randomUUID(), spans: [{ ...kept, name: 'of another project' }, elsewhere] });
    await remove({ deletions }, projectId, 'span', deleted.id);
    const times = await revision.replace(found.map(({ version, span }) => ({ version, span: { ...span, cost: 9 } })));
    revision.close();
    expect(found.map(({ span }, index) => [span.id, times[index] !== null])).to.have.deep.members([
      [kept.id, true],
      [resent.id, false],
      [deleted.id, false],
    ]);
    expect(await stored(projectId)).to.deep.equal({
      [kept.id]: { name: 'first', cost: 9 },
      [resent.id]: { name: 'again', cost: 1 },
    });
  });

  it('sees what was accepted before it began, and loses to what is accepted with it', async () => {
    const { log, calculated: spans } = opened.store;
    const projectId = randomUUID();
    const span = calculated();
    await log.append({ projectId, spans: [span] });
    const accepted = log.append({ projectId, spans: [{ ...span, name: 'second', cost: 2 }] });
    const revision = await spans.open(projectId);
    const found = await revision.read(await revision.page(EVERYTHING, null, 10));
    await accepted;
    expect(found.map((one) => one.span.name)).to.deep.equal(['second']);
    const write = log.append({ projectId, spans: [{ ...span, name: 'third', cost: 3 }] });
    const times = await revision.replace(found);
    revision.close();
    await write;
    expect(times).to.deep.equal([null]);
    expect(await stored(projectId)).to.deep.equal({ [span.id]: { name: 'third', cost: 3 } });
  });

  it('goes through the spans in one order, page by page, without those whose cost was sent', async () => {
    const { log, calculated: spans } = opened.store;
    const projectId = randomUUID();
    const wanted = Array.from({ length: 25 }, (_, index) => calculated({ started_at: START + (index % 3) }));
    const others = [calculated({ cost_calculated: false }), calculated({ kind: 'tool' })];
    const unknown = calculated({ cost: null, cost_calculated: false });
    await log.append({ projectId, spans: [...wanted, ...others, unknown] });
    expect(await spans.count(projectId, EVERYTHING)).to.equal(26);
    const seen: string[] = [];
    const revision = await spans.open(projectId);
    for (let page = await revision.page(EVERYTHING, null, 4); page.length > 0;) {
      seen.push(...page.map(({ id }) => id));
      page = await revision.page(EVERYTHING, page.at(-1) ?? null, 4);
    }
    revision.close();
    expect(seen).to.have.length(26);
    expect(new Set(seen)).to.deep.equal(new Set([...wanted, unknown].map(({ id }) => id)));
  });
});
