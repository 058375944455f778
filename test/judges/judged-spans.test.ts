import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { JudgeFilters } from '../../src/engine/traces/model/judged/filters.js';
import { sampleHash } from '../../src/engine/traces/model/judged/sample.js';
import type { Arrival, ArrivalFilter } from '../../src/engine/traces/model/judged/span-reader.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove } from '../harness/trace-store.js';

const START = Date.UTC(2026, 0, 15) * 1000;
const NO_FILTERS: JudgeFilters = { kinds: [], names: [], tags: {}, prompt_slug: null };

const finished = (change: Partial<Span> = {}) =>
  storedSpan({
    name: 'answer',
    kind: 'llm',
    started_at: START,
    input_data: 'question',
    output_data: 'answer',
    ...change,
  });

const ids = (spans: readonly { readonly id: string }[]) => spans.map(({ id }) => id);

describe('spans for judges', () => {
  let opened: OpenedStore;
  let projectId: string;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());
  beforeEach(() => {
    projectId = randomUUID();
  });

  const judge = (change: Partial<ArrivalFilter> = {}): ArrivalFilter => ({
    judge_id: randomUUID(),
    subject: 'span',
    filters: NO_FILTERS,
    sample_rate: 1,
    ...change,
  });
  const append = (...spans: Span[]) => opened.store.log.append({ projectId, spans });

  /** Stores spans anew as with another price. @param wanted default: all whose cost was calculated */
  async function reprice(wanted?: readonly string[]): Promise<void> {
    const revision = await opened.store.calculated.open(projectId);
    const scope = { started_after: null, started_before: null, provider: null, model: null };
    const page = await revision.page(scope, null, 100);
    const stored = await revision.read(page.filter(({ id }) => wanted?.includes(id) ?? true));
    await revision.replace(stored.map(({ version, span }) => ({ version, span: { ...span, cost_calculated: true } })));
    revision.close();
  }

  /** Everything that arrived, page by page, once it is rolled up. */
  async function arrived(after: number, filter: ArrivalFilter, limit = 1000, project = projectId): Promise<Arrival[]> {
    await opened.store.spans.find(projectId, []);
    const found: Arrival[] = [];
    for (;;) {
      const page = await opened.store.arrivals.read(project, after, [filter], limit);
      found.push(...page.spans);
      expect(page.spans.every(({ arrived_at }) => arrived_at > after && arrived_at <= page.upTo)).to.equal(true);
      after = page.upTo;
      if (!page.more) return found;
    }
  }

  it('finds new spans once each, in the order of arrival, whatever the size of pages', async () => {
    const from = opened.store.arrivals.now();
    const spans = Array.from({ length: 50 }, (_, index) => finished({ started_at: START - index * 1e6 }));
    for (const span of spans) await append(span);
    expect(ids(await arrived(from, judge(), 7))).to.deep.equal(ids(spans));
    expect(await arrived(opened.store.arrivals.now(), judge())).to.deep.equal([]);
    const others = await arrived(from, judge(), 1000, randomUUID());
    expect(others).to.deep.equal([]);
  });

  it('leaves out what is unfinished, empty, replaced, deleted, priced anew, or a call of a judge', async () => {
    const from = opened.store.arrivals.now();
    const running = finished({ output_data: null });
    const ended = finished({ output_data: null, ended_at: START + 1 });
    const timed = finished({ output_data: null, duration_ms: 0 });
    const failed = finished({ output_data: null, error_code: 'E' });
    const empty = finished({ input_data: null, output_data: null, ended_at: START + 1 });
    const call = finished({ tags: { 'spanhouse.judge': randomUUID() } });
    const deleted = finished();
    const replaced = finished({ name: 'old' });
    const repriced = finished({ cost: 1, cost_calculated: true });
    await append(running, ended, timed, failed, empty, call, deleted, replaced, repriced);
    await remove(opened.store, projectId, 'span', deleted.id);
    await append({ ...replaced, name: 'new' });
    const found = await arrived(from, judge());
    expect(ids(found)).to.deep.equal(ids([ended, timed, failed, repriced, replaced]));
    expect(found.at(-1)?.name).to.equal('new');
    const later = opened.store.arrivals.now();
    await reprice([repriced.id]);
    expect(await arrived(later, judge()), 'a price is no arrival').to.deep.equal([]);
    await append({ ...running, output_data: 'done' });
    expect(ids(await arrived(later, judge()))).to.deep.equal([running.id]);
  });

  it('finds what was priced anew before it was looked at, once, wherever a page ends and whatever was purged', async () => {
    const from = opened.store.arrivals.now();
    const spans = Array.from({ length: 6 }, () => finished({ cost: 1, cost_calculated: true }));
    for (const span of spans.slice(0, 5)) await append(span);
    const [first] = await arrived(from, judge(), 1);
    // All but the last, the second once more.
    await reprice();
    await reprice([spans[1]!.id]);
    await append(spans[5]!);
    const order = ids(spans);
    for (const limit of [1, 2, 1000]) expect(ids(await arrived(from, judge(), limit))).to.deep.equal(order);
    const upToFirst = () => opened.store.arrivals.read(projectId, from, [judge()], 10, first?.arrived_at);
    expect(ids((await upToFirst()).spans)).to.deep.equal(order.slice(0, 1));
    const outline = () => opened.store.arrivals.outline(projectId, from, 100);
    expect(ids(await outline())).to.deep.equal(order);

    await opened.store.purge();
    for (const limit of [1, 2, 1000]) expect(ids(await arrived(from, judge(), limit))).to.deep.equal(order);
    expect(ids((await upToFirst()).spans)).to.deep.equal(order.slice(0, 1));
    expect(ids(await outline())).to.deep.equal(order);
    expect(ids(await arrived(first!.arrived_at, judge(), 2)), 'none twice').to.deep.equal(order.slice(1));
    await append({ ...spans[2]!, name: 'again' });
    expect((await arrived(from, judge())).at(-1), 'what was sent again').to.include({
      id: spans[2]!.id,
      name: 'again',
    });
  });

  it('matches kinds, names, tags and what may name a prompt, and samples by their own hash', async () => {
    const from = opened.store.arrivals.now();
    const tool = finished({ kind: 'tool' });
    const named = finished({ name: "it's" });
    const tagged = finished({ tags: { a: '1', '': 'empty', 'b"': "'" } });
    const prompted = finished({ attributes: { zeroeval: { prompt_slug: 'support' }, task: 'x' } });
    const dotted = finished({ attributes: { 'zeroeval.prompt_version_id': 'V', big: 'x'.repeat(100) } });
    await append(tool, named, tagged, prompted, dotted);
    const matching = async (filters: Partial<JudgeFilters>) =>
      ids(await arrived(from, judge({ filters: { ...NO_FILTERS, ...filters } })));
    expect(await matching({ kinds: ['tool', 'http'] })).to.deep.equal([tool.id]);
    expect(await matching({ names: ["it's"] })).to.deep.equal([named.id]);
    expect(await matching({ tags: { a: '1', '': 'empty', 'b"': "'" } })).to.deep.equal([tagged.id]);
    expect(await matching({ tags: { a: '2' } })).to.deep.equal([]);
    expect(await matching({ kinds: ['llm'], names: ['answer'], tags: { a: '1' } })).to.deep.equal([tagged.id]);
    const prompts = await arrived(from, judge({ filters: { ...NO_FILTERS, prompt_slug: 'support' } }));
    expect(prompts.map(({ attributes }) => attributes)).to.deep.equal([
      { zeroeval: { prompt_slug: 'support' }, task: 'x' },
      { 'zeroeval.prompt_version_id': 'V' },
    ]);
    const many = Array.from({ length: 300 }, () => finished());
    await append(...many);
    const sampling = judge({ sample_rate: 0.25 });
    const expected = [tool, named, tagged, prompted, dotted, ...many].filter(
      ({ id }) => sampleHash(id, sampling.judge_id) < 0.25,
    );
    expect(expected.length).to.be.within(30, 130);
    expect(ids(await arrived(from, sampling))).to.deep.equal(ids(expected));
  });

  it('reads whole spans by place and by id, the newest version, and leaves out the middle of long texts', async () => {
    const long = `${'a'.repeat(50_000)}é👩‍👧${'b'.repeat(50_000)}END`;
    const span = finished({ input_data: long, attributes: { a: { b: [1] } }, tags: { t: 'x' }, status: 'ok' });
    const moved = finished({ output_data: 'before' });
    const large = finished({ attributes: { big: 'x'.repeat(30_000) } });
    await append(span, moved, large);
    await append({ ...moved, started_at: START + 5e6, output_data: 'after', input_data: null });
    await opened.store.spans.find(projectId, []);
    const places = [span, moved, large].map(({ id, trace_id, started_at }) => ({
      span_id: id,
      trace_id,
      span_started_at: started_at,
    }));
    const missing = { span_id: randomUUID(), trace_id: randomUUID(), span_started_at: START };
    for (const found of [
      await opened.store.spans.read(projectId, [...places, missing]),
      await opened.store.spans.find(
        projectId,
        [...places, missing].map(({ span_id }) => span_id),
      ),
    ]) {
      expect([...found.keys()].sort()).to.deep.equal([span.id, moved.id, large.id].sort());
      const read = found.get(span.id);
      expect(read).to.deep.include({
        attributes: { a: { b: [1] } },
        tags: { t: 'x' },
        status: 'ok',
        trace_id: span.trace_id,
      });
      expect(read?.input?.length).to.equal([...long].length);
      expect(read?.input?.text).to.match(/^a{40000}\n\[… \d+ characters left out here …\]\nb{19997}END$/);
      expect(read?.output).to.deep.equal({ text: 'answer', length: 6 });
      expect(found.get(moved.id)?.output?.text).to.equal('after');
      expect(found.get(moved.id)?.input).to.equal(null);
      expect(found.get(large.id)?.attributes).to.deep.equal({});
    }
    expect((await opened.store.spans.read(randomUUID(), places)).size, 'of another project').to.equal(0);
  });

  it('finds the newest spans page by page', async () => {
    const spans = Array.from({ length: 20 }, (_, index) => finished({ started_at: START + Math.floor(index / 2) }));
    await append(...spans, finished({ output_data: null }), finished({ tags: { 'spanhouse.judge': 'x' } }));
    const all = await opened.store.spans.newest(projectId, NO_FILTERS, 100);
    expect(all.length).to.equal(20);
    const paged = [];
    for (let last: (typeof all)[number] | undefined, page = all; page.length > 0;) {
      const before = last && { span_id: last.id, trace_id: last.trace_id, span_started_at: last.started_at };
      page = await opened.store.spans.newest(projectId, NO_FILTERS, 3, before ?? null);
      paged.push(...page);
      last = page.at(-1) ?? last;
    }
    expect(ids(paged)).to.deep.equal(ids(all));
    expect(all.map(({ started_at }) => started_at)).to.deep.equal(
      spans.map(({ started_at }) => started_at).sort((a, b) => b - a),
    );
  });

  it('calls back soon after spans arrived', async () => {
    let calls = 0;
    opened.store.arrivals.onArrival(() => (calls += 1));
    const from = opened.store.arrivals.now();
    await append(finished());
    const read = async () => (await opened.store.arrivals.read(projectId, from, [judge()], 10)).spans;
    // The first call may still be for what an earlier test appended, and the span can be read a moment before the call.
    const isDone = async () => calls > 0 && (await read()).length === 1;
    for (let waited = 0; !(await isDone()); waited += 20) {
      expect(waited, `${calls} calls`).to.be.lessThan(20_000);
      await sleep(20);
    }
  });
});
