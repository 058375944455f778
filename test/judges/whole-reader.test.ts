import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { JudgeFilters } from '../../src/engine/traces/model/judged/filters.js';
import type { JudgedWhole, WholeKind, WholeShape } from '../../src/engine/traces/model/judged/whole-reader.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove } from '../harness/trace-store.js';

const START = Date.UTC(2026, 0, 15) * 1000;
const NO_FILTERS: JudgeFilters = { kinds: [], names: [], tags: {}, prompt_slug: null };
const BUDGET = 32_000;

describe('traces and sessions for judges', () => {
  let opened: OpenedStore;
  let projectId: string;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());
  beforeEach(() => {
    projectId = randomUUID();
  });

  const append = (...spans: Span[]) => opened.store.log.append({ projectId, spans });
  /** A span of a trace, finished, so many microseconds after the others began. */
  const step = (trace_id: string, after: number, change: Partial<Span> = {}) =>
    storedSpan({ trace_id, kind: 'llm', started_at: START + after, output_data: `out ${after}`, ...change });
  const read = async (id: string, shape: Partial<WholeShape> = {}, project = projectId) => {
    const wanted = { kind: 'trace', maxCharacters: BUDGET, kinds: [], ...shape } as const;
    return (await opened.store.wholes.readWholes(project, [id], wanted)).get(id);
  };
  const whole = async (id: string, shape: Partial<WholeShape> = {}): Promise<JudgedWhole> =>
    (await read(id, shape))?.whole ?? expect.fail('no such whole');
  const outlines = async (kind: WholeKind, ids: readonly string[], filters: Partial<JudgeFilters> | null = null) =>
    opened.store.wholes.outlines(
      projectId,
      kind,
      ids,
      filters && { filters: { ...NO_FILTERS, ...filters }, prompt: null },
    );

  it('reads a trace as its root, with an outline of all its spans', async () => {
    const trace = randomUUID();
    const root = step(trace, 0, { name: 'chat', kind: 'agent', input_data: 'Hi', duration_ms: 5 });
    const tool = step(trace, 1, {
      kind: 'tool',
      parent_span_id: root.id,
      output_data: null,
      error_code: 'E',
      error_message: 'down',
    });
    await append(root, tool, step(randomUUID(), 0));
    const found = await read(trace);
    expect(found).to.deep.include({ id: root.id, trace_id: trace, name: 'chat', status: null });
    expect(found?.input).to.deep.equal({ text: 'Hi', length: 2 });
    const { outline, ...about } = found?.whole ?? expect.fail('no whole');
    const lines = [
      '- agent chat (5 ms)',
      '  input: Hi',
      '  output: out 0',
      '  - tool span (error)',
      '    error: E: down',
    ];
    expect(outline).to.equal([...lines, '[2 spans. Left out: nothing.]'].join('\n'));
    const arrived = (await opened.store.spans.find(projectId, [tool.id])).get(tool.id)?.arrived_at;
    const expected = { kind: 'trace', id: trace, spans: 2, arrived_at: arrived };
    expect(about).to.deep.equal({ ...expected, span_ids: [root.id, tool.id], trace_ids: [trace] });
    expect((await whole(trace, { kinds: ['tool'] })).outline).to.not.include('input:');
    expect(await read(trace, {}, randomUUID()), 'of another project').to.equal(undefined);
    expect(await read(randomUUID())).to.equal(undefined);
  });

  it('takes the first root, however late it comes, else the first span, also in a cycle', async () => {
    const [late, none, cycle] = [randomUUID(), randomUUID(), randomUUID()];
    const below = step(late, 0, { parent_span_id: randomUUID() });
    await append(below, step(none, 5, { parent_span_id: randomUUID() }));
    expect((await read(late))?.id).to.equal(below.id);
    const root = step(late, 100);
    const [one, other] = [step(cycle, 1), step(cycle, 2)];
    await append(root, step(late, 101), { ...one, parent_span_id: other.id }, { ...other, parent_span_id: one.id });
    expect((await read(late))?.id).to.equal(root.id);
    expect((await read(none))?.started_at).to.equal(START + 5);
    const found = await read(cycle);
    expect([found?.id, found?.whole?.spans]).to.deep.equal([one.id, 2]);
    expect(found?.whole?.span_ids).to.deep.equal([one.id, other.id]);
    const known = await outlines('trace', [late, none, cycle, randomUUID()]);
    expect([...known.values()].map(({ id, span }) => [id, span.span_id])).to.have.deep.members([
      [late, root.id],
      [none, (await read(none))?.id],
      [cycle, one.id],
    ]);
  });

  it('reads what was sent last, and nothing that was deleted', async () => {
    const trace = randomUUID();
    const [root, changed, gone] = [step(trace, 0), step(trace, 1), step(trace, 2)];
    await append(root, changed, gone);
    const before = await whole(trace);
    await append({ ...changed, name: 'new', started_at: START + 9, output_data: 'changed' });
    const after = await whole(trace);
    expect(after.arrived_at).to.be.greaterThan(before.arrived_at);
    expect(after.outline).to.include('llm new\n  output: changed').and.not.include('out 1');
    expect((await outlines('trace', [trace])).get(trace)).to.include({ spans: 3, arrived_at: after.arrived_at });
    await remove(opened.store, projectId, 'span', gone.id);
    const left = await whole(trace);
    expect([left.spans, left.span_ids]).to.deep.equal([2, [root.id, changed.id]]);
    await opened.store.purge();
    expect(await whole(trace)).to.deep.equal(left);
    await remove(opened.store, projectId, 'trace', trace);
    expect(await read(trace)).to.equal(undefined);
    expect(await outlines('trace', [trace])).to.deep.equal(new Map());
    await append(root);
    expect((await whole(trace)).span_ids, 'sent again').to.deep.equal([root.id]);
  });

  it('cuts texts in the store, whatever they hold', async () => {
    const trace = randomUUID();
    const large = (of: string) => of.repeat(20e6 / of.length);
    const root = step(trace, 0, { input_data: large('a\n'), output_data: large('é🙂') });
    await append(root);
    await append(
      step(trace, 1, { parent_span_id: root.id, output_data: '😀'.repeat(30_000), input_data: 'ok\r\nfine' }),
    );
    for (const maxCharacters of [2000, 300_000]) {
      const { outline } = await whole(trace, { maxCharacters });
      expect(outline.length)
        .to.be.at.most(maxCharacters)
        .and.greaterThan(maxCharacters * 0.6);
      expect(outline.isWellFormed()).to.equal(true);
      expect(outline).to.include('characters left out').and.include('input: ok\n| fine\n');
    }
    const { outline } = await whole(trace, { kinds: ['tool'] });
    expect(outline).to.equal('- llm span\n  - llm span\n[2 spans. Left out: nothing.]');
  }).timeout(60_000);

  it('reads the ends, roots and errors of a very large trace, and counts the rest', async () => {
    const trace = randomUUID();
    const root = step(trace, -1, { name: 'root', kind: 'agent' });
    const spans = Array.from({ length: 2999 }, (_, index) =>
      step(trace, index, {
        parent_span_id: index === 1500 ? null : root.id,
        kind: index % 3 === 0 ? 'tool' : 'llm',
        name: index === 2998 ? 'last' : `step ${index}`,
        ...(index === 1400 && { output_data: null, error_code: 'BROKE' }),
      }),
    );
    await append(root, ...spans);
    const found = await read(trace);
    expect(found?.id).to.equal(root.id);
    const { outline, spans: total, span_ids, arrived_at } = found?.whole ?? expect.fail('no whole');
    expect(total).to.equal(3000);
    expect(outline.length).to.be.at.most(BUDGET);
    expect(outline).to.include('  - llm last\n').and.include('error: BROKE').and.include('- tool step 1500\n');
    const counted = [...outline.matchAll(/… ([\d,]+) more spans? /g)].map(([, count]) =>
      Number(count?.replace(',', '')),
    );
    expect(counted.reduce((sum, each) => sum + each, 0) + span_ids.length).to.equal(3000);
    expect(outline).to.match(/\n… 99\d more spans \(llm \d+, tool \d+\) …\n\[3,000 spans\. Left out: /);
    expect(arrived_at).to.equal((await outlines('trace', [trace])).get(trace)?.arrived_at);
    const most = await whole(trace, { maxCharacters: 800_000 });
    expect(most.span_ids).to.have.length(2003);
    expect(most.outline).to.match(/output: out 998\n[^]*\[3,000 spans\. Left out: 997 spans\.\]$/);
  });

  it('says of wholes whether a span matches, and whether the server made a call', async () => {
    const [plain, own] = [randomUUID(), randomUUID()];
    await append(step(plain, 0, { kind: 'agent' }), step(plain, 1, { kind: 'tool', output_data: null }));
    await append(step(own, 0, { kind: 'tool' }), step(own, 1, { tags: { 'spanhouse.judge': randomUUID() } }));
    const asked = async (filters: Partial<JudgeFilters> | null) =>
      [...(await outlines('trace', [plain, own], filters)).values()]
        .sort((a, b) => Number(a.internal) - Number(b.internal))
        .map(({ matches, internal }) => [matches, internal]);
    expect(await asked(null)).to.deep.equal([
      [null, false],
      [null, true],
    ]);
    expect(await asked({})).to.deep.equal([
      [true, false],
      [true, true],
    ]);
    expect(await asked({ kinds: ['tool'] }), 'an unfinished span matches nothing').to.deep.equal([
      [false, false],
      [true, true],
    ]);
    expect(await asked({ prompt_slug: 'none' })).to.deep.equal([
      [false, false],
      [false, true],
    ]);
    expect((await asked({ names: ['x'.repeat(20_001)] }))[0]).to.deep.equal([null, false]);
  });

  it('finds the newest wholes of which a span matches', async () => {
    const session = randomUUID();
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const newest = async (kind: WholeKind, filters: Partial<JudgeFilters>, limit = 10) =>
      opened.store.wholes.newestWholes(
        projectId,
        kind,
        { filters: { ...NO_FILTERS, ...filters }, prompt: null },
        limit,
      );
    const match = step(second, 3, { kind: 'tool' });
    await append(step(first, 0, { session_id: session, kind: 'tool' }), step(first, 9), step(second, 1), match);
    await append(step(second, 2, { session_id: session }), step(third, 4), step(third, 5));
    const ids = async (...of: Parameters<typeof newest>) => (await newest(...of)).map(({ id }) => id);
    expect(await ids('trace', {})).to.deep.equal([first, third, second]);
    expect(await ids('trace', {}, 2)).to.deep.equal([first, third]);
    const place = { span_id: match.id, trace_id: second, span_started_at: START + 3 };
    expect((await newest('trace', { kinds: ['tool'] }))[0]).to.deep.equal({ id: second, span: place });
    expect(await newest('session', { kinds: ['tool'] })).to.deep.equal([{ id: session, span: place }]);
    expect(await ids('session', { names: ['none'] })).to.deep.equal([]);
    const matches = async (subject: 'span' | WholeKind, filters: Partial<JudgeFilters> = {}) => {
      const wanted = { subject, filters: { ...NO_FILTERS, ...filters }, prompt: null, latest: 2 };
      const { count, wholes, latest } = await opened.store.matching.arrivedSince(projectId, wanted, 0);
      return { count, wholes, latest: latest.map(({ trace_id }) => trace_id) };
    };
    expect(await matches('span')).to.deep.include({ count: 7, wholes: [] });
    expect(await matches('trace')).to.deep.equal({ count: 3, wholes: [first, third], latest: [first, third] });
    expect(await matches('session')).to.deep.equal({ count: 1, wholes: [session], latest: [first] });
    expect(await matches('session', { kinds: ['tool'] })).to.deep.equal({
      count: 1,
      wholes: [session],
      latest: [second],
    });
  });

  it('names the session of each arrival, by its trace, where a judge is about sessions', async () => {
    const from = opened.store.arrivals.now();
    const [trace, session] = [randomUUID(), randomUUID()];
    const spans = [step(trace, 0, { kind: 'tool' }), step(trace, 1, { session_id: session }), step(randomUUID(), 2)];
    await append(...spans);
    await opened.store.rollUp(projectId);
    const arrived = async (subject: 'span' | WholeKind, kinds: string[]) => {
      const filter = { judge_id: randomUUID(), subject, filters: { ...NO_FILTERS, kinds }, sample_rate: 0 };
      const page = await opened.store.arrivals.read(projectId, from, [filter], 10);
      return page.spans.map(({ id, session_id }) => [id, session_id]);
    };
    expect(await arrived('span', [])).to.deep.equal([]);
    const sessions = await opened.store.wholes.sessionsOf(projectId, [trace, spans[2]!.trace_id]);
    expect([...sessions]).to.deep.equal([[trace, session]]);
    const each = spans.map(({ id, session_id }) => [id, session_id]);
    expect(await arrived('trace', ['none'])).to.deep.equal(each);
    expect(await arrived('session', ['none'])).to.deep.equal([[spans[0]?.id, session], ...each.slice(1)]);
  });

  it('reads the conversation of a session', async () => {
    const session = randomUUID();
    const traces = Array.from({ length: 50 }, () => randomUUID());
    const turns = traces.map((trace, index) => {
      const root = step(trace, index * 1000, {
        name: `turn ${index}`,
        session_id: session,
        input_data: `question ${index} ${'q'.repeat(1500)}`,
      });
      const failed = { output_data: null, error_code: 'E', error_message: `no ${index}`, name: 'search', kind: 'tool' };
      return [root, step(trace, index * 1000 + 1, { parent_span_id: root.id, ...(index % 10 === 0 ? failed : {}) })];
    });
    for (const turn of turns.toReversed()) await append(...turn);
    await append(step(randomUUID(), 0, { session_id: randomUUID() }));
    const found = await read(session, { kind: 'session' });
    expect(found?.id).to.equal(turns[0]?.[0]?.id);
    const { outline, span_ids, trace_ids, spans, arrived_at } = found?.whole ?? expect.fail('no whole');
    expect(outline.length).to.be.at.most(BUDGET);
    expect(outline).to.include(
      'Turn 50 of 50, 2026-01-15T00:00:00.049000Z: llm turn 49, 2 spans\n  input: question 49 qqq',
    );
    expect(outline).to.include('2 spans, 1 error\n').and.include('  error in tool search (error): E: no 40\n');
    expect([spans, trace_ids, span_ids.length]).to.deep.equal([100, traces, 55]);
    const known = (await outlines('session', [session, randomUUID()], { kinds: ['llm'] })).get(session);
    expect(known).to.deep.equal({
      id: session,
      span: { span_id: found?.id, trace_id: traces[0], span_started_at: START },
      spans: 100,
      arrived_at,
      matches: true,
      internal: false,
      tried: false,
    });
    // Cut to less, the earliest are counted.
    const short = await whole(session, { kind: 'session', maxCharacters: 2000 });
    expect(short.outline)
      .to.match(/^… \d\d earlier turns with \d\d spans …\n/)
      .and.include('Turn 50 of 50');
    // The anchor is of the first one, whose name is always shown.
    expect(short.trace_ids).to.deep.equal([...traces.slice(1 - short.trace_ids.length), traces[0]]);
    // A trace that leaves the session, and one that is deleted.
    await remove(opened.store, projectId, 'trace', traces[0]!);
    await append({ ...turns[1]![0]!, session_id: randomUUID() });
    const less = await read(session, { kind: 'session' });
    expect([less?.id, less?.whole?.spans]).to.deep.equal([turns[2]?.[0]?.id, 96]);
    expect(await read(session, { kind: 'session' }, randomUUID())).to.equal(undefined);
  });

  it('reads the latest traces of a very long session, and counts the others', async () => {
    const session = randomUUID();
    const spans = Array.from({ length: 620 }, (_, index) => step(randomUUID(), index, { session_id: session }));
    await append(...spans);
    const found = await read(session, { kind: 'session', maxCharacters: 400_000 });
    expect(found?.id).to.equal(spans[0]?.id);
    expect(found?.whole?.spans).to.equal(620);
    expect(found?.whole?.outline).to.match(/^… 120 earlier turns with 120 spans …\nTurn 121 of 620, /);
    expect(found?.whole?.outline).to.match(/\[620 turns\. Left out: 120 turns\.\]$/);
  });
});
