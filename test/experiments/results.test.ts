import { randomUUID } from 'node:crypto';
import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import type { MeasuredResult, ResultQuery } from '../../src/engine/traces/model/experiment/results.js';
import type { Score } from '../../src/engine/traces/model/score/score.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { MeasuredReads } from '../../src/engine/traces/experiment/measured-reads.js';
import { readFigures } from '../../src/engine/traces/experiment/result-figures.js';
import { ScoreReads } from '../../src/engine/traces/experiment/score-reads.js';
import { openReader, type ReadRows } from '../../src/engine/traces/read/row-reader.js';
import { sql, value } from '../../src/engine/traces/clickhouse/client/sql.js';
import { Random } from '../../scripts/random.js';
import { seedOf } from '../harness/seed.js';
import { storedSpan } from '../harness/span.js';
import { openStore, remove, reopenStore, type OpenedStore } from '../harness/trace-store.js';

const PAGE: Omit<ResultQuery, 'experimentId'> = {
  repetition: null,
  rowIds: null,
  hasError: null,
  limit: 100,
  offset: 0,
  count: true,
};

const START = 1_768_000_000e6;

describe('the results of experiments', () => {
  let opened: OpenedStore;
  let project: string;
  let experiment: string;

  before(async () => {
    opened = await openStore();
  });
  after(() => opened?.dispose());
  beforeEach(() => {
    project = randomUUID();
    experiment = randomUUID();
  });

  const post = (...spans: Span[]) => opened.store.log.append({ projectId: project, spans });
  const result = (row_id: string | undefined, { repetition = 1, trace_id, ...more }: Parts = {}): Span =>
    storedSpan({
      output_data: `answer to ${row_id}`,
      ...more,
      attributes: { spanhouse: { experiment: { id: experiment, row_id, repetition, trace_id } } },
    });
  const page = (query: Partial<ResultQuery> = {}) =>
    opened.store.results.page(project, { ...PAGE, experimentId: experiment, ...query });
  const keys = async (query: Partial<ResultQuery> = {}) => {
    const { results, total } = await page(query);
    return { keys: results.map(({ row_id, repetition }) => `${row_id}/${repetition}`), total };
  };
  const figures = async () => (await opened.store.results.figures(project, [experiment])).get(experiment);
  const measured = async (...scores: string[]) => {
    const all: MeasuredResult[] = [];
    for await (const portion of opened.store.results.measured(project, experiment, scores)) all.push(...portion);
    return all;
  };
  const spans = async () => {
    const all = [];
    for await (const portion of opened.store.results.spansOf(project, experiment)) all.push(...portion);
    return all;
  };
  const score = (span: Span, name: string, value: Score['value'], more: Partial<Score> = {}): Score => ({
    id: randomUUID(),
    ...{ entity_type: 'span', entity_id: span.id, name, value, source: 'sdk', author: '', comment: null, metadata: {} },
    kind: typeof value === 'number' ? 'numeric' : typeof value === 'boolean' ? 'boolean' : 'categorical',
    ...more,
  });

  it('are there as soon as they are acknowledged, by row and repetition', async () => {
    const [b2, a, b1] = [result('b', { repetition: 2 }), result('a'), result('b')];
    const { createdAt } = await post(b2, a, b1, result(undefined), storedSpan());
    const { results, total } = await page();
    expect(total).to.equal(3);
    expect(results.map(({ id }) => id)).to.deep.equal([a.id, b1.id, b2.id]);
    expect(results[0]).to.deep.equal({
      ...{ id: a.id, trace_id: a.trace_id, row_id: 'a', repetition: 1, output_data: 'answer to a', has_error: false },
      ...{ error_message: null, created_at: createdAt[1], cost: null, duration_ms: null, scores: {} },
      ...{ input_tokens: null, output_tokens: null },
    });
    expect(await spans()).to.have.length(4);
    const rows = await opened.client.query(
      sql`SELECT 1 FROM experiment_spans WHERE project_id = ${value(project, 'String')}`,
    );
    expect(rows).to.have.length(4);
  });

  it('are found by repetition, row and error, in pages', async () => {
    await post(result('a'), result('a', { repetition: 2, error_message: 'no' }), result('b'), result('c'));
    expect(await keys({ repetition: 2 })).to.deep.equal({ keys: ['a/2'], total: 1 });
    expect(await keys({ rowIds: ['c', 'a'] })).to.deep.equal({ keys: ['a/1', 'a/2', 'c/1'], total: 3 });
    expect(await keys({ hasError: true })).to.deep.equal({ keys: ['a/2'], total: 1 });
    expect(await keys({ hasError: false, limit: 1, offset: 1 })).to.deep.equal({ keys: ['b/1'], total: 3 });
    expect((await page({ hasError: true })).results[0]).to.include({ error_message: 'no', has_error: true });
  });

  it('have the cost, duration and tokens of the trace in which they were made', async () => {
    const trace = randomUUID();
    const call = { provider: null, model: null, cache_read_tokens: null, cache_write_tokens: null };
    const none = { prompt_slug: null, prompt_version: null, prompt_version_id: null };
    const step = (cost: number, started: number, seconds: number) =>
      storedSpan({
        trace_id: trace,
        cost,
        started_at: started * 1e6,
        ended_at: (started + seconds) * 1e6,
        call: { ...call, ...none, input_tokens: 10, output_tokens: 1 },
      });
    const made = result('a', { trace_id: trace, cost: 5 });
    await post(made);
    expect((await page()).results[0]).to.include({ trace_id: trace, cost: null, duration_ms: null });
    await post(step(0.1, 1_768_000_000, 2), step(0.2, 1_768_000_001, 3));
    const taken = { cost: 0.3, duration_ms: 4000, input_tokens: 20, output_tokens: 2 };
    expect((await page()).results[0]).to.include(taken);
    expect(await measured()).to.deep.equal([
      { id: made.id, row_id: 'a', repetition: 1, has_error: false, ...taken, scores: {} },
    ]);
    await opened.store.rollUp(project);
    expect((await page()).results[0]).to.include(taken);
    expect(await figures()).to.include({ cost: 0.3, duration_ms_p50: 4000, input_tokens: 20, output_tokens: 2 });
  });

  it('have those of their own span where several were made in the same trace', async () => {
    const trace = randomUUID();
    const own = { cost: 2, duration_ms: 7 };
    await post(result('a', { trace_id: trace, ...own }), result('b', { trace_id: trace, cost: 3, duration_ms: 9 }));
    await post(storedSpan({ trace_id: trace, cost: 100 }), result('c', { cost: 1, duration_ms: 1 }));
    expect((await page()).results.map(({ cost }) => cost)).to.deep.equal([2, 3, 1]);
    expect((await measured()).map(({ cost }) => cost)).to.deep.equal([2, 3, 1]);
    expect(await figures()).to.include({ cost: 6, duration_ms_p95: 9 });
    // One of them alone has what its trace has.
    await post(result('b', { cost: 4 }));
    expect((await page({ rowIds: ['a'] })).results[0]).to.include(own);
  });

  it('are the newest of a row and repetition, whatever was written again since', async () => {
    const first = result('a', { output_data: 'first' });
    await post(first);
    const second = result('a', { output_data: 'second' });
    await post(second);
    expect((await page()).results.map(({ id }) => id)).to.deep.equal([second.id]);
    await post({ ...first, output_data: 'third' });
    expect((await page()).results.map(({ output_data }) => output_data)).to.deep.equal(['third']);
    expect(await figures()).to.include({ results: 1, rows: 1 });
    await remove(opened.store, project, 'span', first.id);
    expect((await page()).results.map(({ output_data }) => output_data)).to.deep.equal(['second']);
  });

  it('follow a span that is sent again with another mark, or without', async () => {
    const span = result('a');
    await post(span, result('b'));
    await post({ ...span, attributes: result('c').attributes });
    expect(await keys()).to.deep.equal({ keys: ['b/1', 'c/1'], total: 2 });
    await post({ ...span, attributes: {} });
    expect(await keys()).to.deep.equal({ keys: ['b/1'], total: 1 });
  });

  it('go with their traces, and are purged', async () => {
    const [gone, kept] = [result('a'), result('b')];
    await post(gone, kept);
    await remove(opened.store, project, 'trace', gone.trace_id);
    expect(await keys()).to.deep.equal({ keys: ['b/1'], total: 1 });
    await post({ ...kept, output_data: 'again' });
    await opened.store.purge();
    expect(await keys()).to.deep.equal({ keys: ['b/1'], total: 1 });
    const rows = await opened.client.query(
      sql`SELECT 1 FROM experiment_spans WHERE experiment_id = ${value(experiment, 'UUID')}`,
    );
    expect(rows).to.have.length(1);
  });

  it('show the newest score of each name', async () => {
    const [a, b] = [result('a'), result('b')];
    await post(a, b);
    const write = (...scores: Score[]) => opened.store.log.append({ projectId: project, scores });
    await write(score(a, 'level', 0.25), score(a, 'good', true), score(b, 'level', 0.75), score(a, 'mood', 'calm'));
    await write(score(a, 'level', 0.5, { author: 'later' }));
    const [first, second] = (await page()).results;
    expect(first?.scores).to.deep.equal({ level: 0.5, good: true, mood: 'calm' });
    expect(second?.scores).to.deep.equal({ level: 0.75 });
    expect((await measured('level')).map(({ scores }) => scores)).to.deep.equal([{ level: 0.5 }, { level: 0.75 }]);
    expect((await measured()).map(({ scores }) => scores)).to.deep.equal([{}, {}]);
    expect((await figures())?.scores).to.deep.equal([
      { name: 'good', kind: 'boolean', count: 1, mean: 1 },
      { name: 'level', kind: 'numeric', count: 2, mean: 0.625 },
      { name: 'mood', kind: 'categorical', count: 1, mean: null },
    ]);
  });

  it('have the scores of the trace in which they alone were made, too', async () => {
    const [own, both] = [randomUUID(), randomUUID()];
    const a = result('a', { trace_id: own });
    const [b, c, d] = [result('b', { trace_id: both }), result('c', { trace_id: both }), result('d')];
    await post(a, b, c, d);
    const ofTrace = (id: string) => ({ entity_type: 'trace' as const, entity_id: id });
    const write = (...scores: Score[]) => opened.store.log.append({ projectId: project, scores });
    await write(score(a, 'level', 0.25), score(a, 'good', true, ofTrace(own)), score(a, 'level', 0.5, ofTrace(own)));
    await write(
      score(b, 'level', 1, ofTrace(both)),
      score(d, 'level', 0.75, ofTrace(d.trace_id)),
      score(d, 'level', 1),
    );
    const expected = [{ level: 0.5, good: true }, {}, {}, { level: 1 }];
    expect((await page()).results.map(({ scores }) => scores)).to.deep.equal(expected);
    expect((await measured('level', 'good')).map(({ scores }) => scores)).to.deep.equal(expected);
    expect((await figures())?.scores).to.deep.equal([
      { name: 'good', kind: 'boolean', count: 1, mean: 1 },
      { name: 'level', kind: 'numeric', count: 2, mean: 0.75 },
    ]);
  });

  it('have the score of another author, or of the trace, where the newest one was removed', async () => {
    const [a, b, c] = [result('a'), result('b'), result('c')];
    await post(a, b, c);
    const write = (...scores: Score[]) => opened.store.log.append({ projectId: project, scores });
    const ofTrace = ({ trace_id }: Span) => ({ entity_type: 'trace' as const, entity_id: trace_id });
    const removed = [a, b, c].map((span) => score(span, 'level', 1, { author: 'later' }));
    await write(score(a, 'level', 0.25), score(b, 'level', 0.5, ofTrace(b)), score(c, 'other', 0.75));
    await write(...removed);
    expect((await measured('level')).map(({ scores }) => scores)).to.deep.equal([
      { level: 1 },
      { level: 1 },
      { level: 1 },
    ]);
    for (const { id } of removed) await opened.store.scores.remove(project, id);
    const expected = [{ level: 0.25 }, { level: 0.5 }, { other: 0.75 }];
    expect((await measured('level', 'other')).map(({ scores }) => scores)).to.deep.equal(expected);
    // One that counts is not looked for behind what was removed before it.
    await write(score(a, 'level', 0.125, ofTrace(a)));
    expect((await measured('level'))[0]?.scores).to.deep.equal({ level: 0.125 });
  });

  it('have the same figures in whatever portions they are read', async () => {
    const other = randomUUID();
    const dice = new Random(seedOf('RESULTS_SEED'));
    const trace = randomUUID();
    const took = (duration_ms: number) => ({ duration_ms, started_at: START, ended_at: START + duration_ms * 1_000 });
    const spans = ['a', 'b', 'c', 'd'].flatMap((row) =>
      [1, 2, 3].map((repetition) =>
        result(row, {
          ...{ repetition, cost: dice.whole(0, 5) / 10, ...took(dice.whole(0, 4)) },
          ...(dice.chance(0.3) && { trace_id: trace, error_message: 'no' }),
        }),
      ),
    );
    const [first] = spans;
    await post(...spans, ...(first === undefined ? [] : [{ ...first, id: randomUUID(), cost: 7 }]));
    const elsewhere = { spanhouse: { experiment: { id: other, row_id: 'a' } } };
    await post(storedSpan({ attributes: elsewhere, cost: 1, ...took(9) }));
    const scores = spans.flatMap((span) => [
      score(span, 'level', dice.whole(0, 8) / 8),
      score(span, 'good', dice.chance(0.5)),
    ]);
    await opened.store.log.append({ projectId: project, scores });
    await opened.store.rollUp(project);
    const whole = await opened.store.results.figures(project, [experiment, other]);
    expect(whole.get(experiment)).to.include({ results: 12, rows: 4, repetitions: 3 });
    expect(whole.get(other)).to.include({ results: 1, cost: 1, duration_ms_p50: 9 });
    const durations = (await measured()).map(({ duration_ms }) => duration_ms ?? 0).sort((one, two) => one - two);
    expect(whole.get(experiment)).to.include({ duration_ms_p50: durations[6], duration_ms_p95: durations[11] });
    const scope = { projectId: project, upTo: Number.MAX_SAFE_INTEGER };
    const { rows } = openReader(opened.client);
    for (const atOnce of [3, 13])
      expect(await readFigures(rows, scope, [experiment, other], { atOnce }), `${atOnce} at once`).to.deep.equal(whole);
    const known = await measured('level', 'good');
    for (const atOnce of [3, 13, 14]) {
      const reader = openReader(opened.client);
      const all: MeasuredResult[] = [];
      const reads = new MeasuredReads(reader, new ScoreReads(reader.rows), atOnce);
      for await (const portion of reads.all(scope, experiment, ['level', 'good'], undefined)) all.push(...portion);
      expect(all, `measured, ${atOnce} at once`).to.deep.equal(known);
    }
    // Where the engine has no memory for a portion, halves of it are read.
    let refused = 0;
    const tooLarge = new ClickHouseError({ message: 'Query memory limit exceeded', code: '241' });
    const sparing: ReadRows = (statement, options) =>
      statement.render().text.includes('LIMIT 1 BY') && (refused += 1) < 3
        ? Promise.reject(new DomainError('unavailable', 'Too large', { cause: tooLarge }))
        : rows(statement, options);
    expect(await readFigures(sparing, scope, [experiment, other], { atOnce: 13, least: 4 })).to.deep.equal(whole);
    refused = -Infinity;
    const error = await readFigures(sparing, scope, [experiment], { atOnce: 4, least: 4 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.an.instanceOf(DomainError);
  });

  it('are counted, of several experiments in one read', async () => {
    const { createdAt } = await post(
      result('a'),
      result('a', { repetition: 2, error_code: 'E' }),
      result('b', { cost: 0.5 }),
    );
    expect(await figures()).to.deep.equal({
      ...{ results: 3, rows: 2, errors: 1, repetitions: 2, cost: 0.5, input_tokens: null, output_tokens: null },
      ...{ duration_ms_p50: null, duration_ms_p95: null, first_at: createdAt[0], last_at: createdAt[2], scores: [] },
    });
    const all = await opened.store.results.figures(project, [experiment, randomUUID()]);
    expect([...all.keys()]).to.deep.equal([experiment]);
    expect(await opened.store.results.figures(randomUUID(), [experiment])).to.have.property('size', 0);
  });

  it('are known to the next start', async () => {
    await post(result('a'));
    await opened.store.rollUp();
    const again = await reopenStore(opened.client);
    const { results } = await again.results.page(project, { ...PAGE, experimentId: experiment });
    expect(results).to.have.length(1);
    await again.close();
  });
});

type Parts = Partial<Omit<Span, 'trace_id'>> & {
  readonly repetition?: number;
  /** In which it was made. */
  readonly trace_id?: string;
};
