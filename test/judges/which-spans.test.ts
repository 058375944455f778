import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sampleHash } from '../../src/engine/traces/model/judged/sample.js';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';
import type { ModelEndpoint } from './model-endpoint.js';

describe('judges that run by themselves', () => {
  let bench: JudgeBench;
  let api: JudgeApi;
  let endpoint: ModelEndpoint;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api, endpoint } = bench);
  });
  after(() => bench.dispose());
  beforeEach(() => endpoint.reset());
  afterEach(() => bench.clear());

  it('judges only what matches, and says what does not', async () => {
    await api.expect(200, 'POST', '/v1/tasks/support/prompt/versions/ensure', { content: 'x' });
    const filters = { kinds: ['llm', 'tool'], names: ['a'], tags: { env: 'prod' }, prompt_slug: 'support' };
    const judge = await bench.make({ filters });
    const match = { name: 'a', kind: 'tool', tags: { env: 'prod', more: '1' }, attributes: { task: 'support' } };
    const [yes, ...no] = await api.post(
      ...[
        match,
        { ...match, kind: 'http' },
        { ...match, name: 'b' },
        { ...match, tags: {} },
        { ...match, attributes: {} },
      ].map(finished),
    );
    await api.evaluated(judge, yes ?? {});
    const explanations = await Promise.all(no.map((span) => api.explain(judge, span)));
    expect(explanations.map((explanation) => explanation['answer'])).to.deep.equal([
      'filtered',
      'filtered',
      'filtered',
      'filtered',
    ]);
    expect(explanations.map(({ mismatches }) => mismatches)).to.deep.equal([
      [{ filter: 'kinds', wanted: 'llm, tool', found: 'http' }],
      [{ filter: 'names', wanted: 'a', found: 'b' }],
      [{ filter: 'tags.env', wanted: 'prod', found: 'no such tag' }],
      [{ filter: 'prompt_slug', wanted: 'support', found: 'its attributes do not name this prompt' }],
    ]);
    expect(explanations[0]?.['explanation']).to.contain('kinds: expected llm, tool, found http');
    await sleep(300);
    expect(endpoint.asked).to.have.length(1);
  });

  it('judges the same sample each time, by the hash that it explains', async () => {
    const judge = await bench.make({ sample_rate: 0.3 });
    const spans = await api.post(...Array.from({ length: 60 }, () => finished()));
    const expected = spans.filter(({ id }) => sampleHash(id, judge['id']) < 0.3).map(({ id }) => id as string);
    await eventually(
      () => api.evaluations(judge),
      (found) => found.length >= expected.length,
    );
    await sleep(300);
    const found = (await api.evaluations(judge)).map(({ span_id }) => span_id as string);
    expect(found.sort()).to.deep.equal(expected.sort());
    const out = spans.find(({ id }) => !expected.includes(id)) ?? {};
    const { answer: said, sample, explanation } = await api.explain(judge, out);
    expect([said, sample]).to.deep.equal([
      'sampled_out',
      { hash: sampleHash(out['id'], judge['id']), rate: 0.3, included: false },
    ]);
    expect(explanation).to.contain(String(sample.hash)).and.contain('0.3');
  });

  it('waits for the output of a span that is still running, and judges no span twice', async () => {
    const judge = await bench.make();
    const span = finished({ output_data: undefined });
    await api.post(span);
    expect(await api.until(judge, span, 'unfinished')).to.include({ evaluation_id: null });
    const empty = finished({ input_data: undefined, output_data: undefined, duration_ms: 5 });
    await api.post(empty);
    expect(await api.explain(judge, empty)).to.include({ answer: 'empty' });
    await sleep(400);
    expect(endpoint.asked).to.have.length(0);
    await api.post({ ...span, output_data: 'now' });
    await api.evaluated(judge, span);
    expect(endpoint.asked[0]?.last).to.contain('now');
    await api.post({ ...span, output_data: 'and again' });
    await api.post({ ...span, output_data: 'and again', tags: { x: 'y' } });
    await sleep(800);
    expect(endpoint.asked).to.have.length(1);
    expect(await api.evaluations(judge)).to.have.length(1);
  });

  it('judges nothing that arrived before it was made or enabled, until asked to', async () => {
    const before = await api.postOne();
    const judge = await bench.make();
    const after = await api.postOne();
    await api.evaluated(judge, after);
    expect(await api.explain(judge, before)).to.include({ answer: 'arrived_before' });
    await api.patch(judge['id'], { enabled: false });
    const meanwhile = await api.postOne();
    expect(await api.explain(judge, meanwhile)).to.include({ answer: 'judge_disabled' });
    await api.patch(judge['id'], { enabled: true });
    expect(await api.explain(judge, meanwhile)).to.include({ answer: 'arrived_before' });
    const later = await api.postOne();
    await api.evaluated(judge, later);
    expect(endpoint.asked).to.have.length(2);
    const { queued, runs } = await api.expect(202, 'POST', `judges/${judge['id']}:run`, {
      span_ids: [before['id'], after['id'].toUpperCase(), before['id']],
    });
    expect([queued, runs.map(({ span_id }: Json) => span_id).sort()]).to.deep.equal([
      2,
      [before['id'], after['id']].sort(),
    ]);
    await api.evaluated(judge, before);
    await eventually(
      () => api.evaluations(judge),
      (found) => found.length === 4,
    );
    const requested = (await api.evaluations(judge)).filter(({ origin }) => origin === 'requested');
    expect(requested.map(({ id }) => id).sort()).to.deep.equal(runs.map(({ id }: Json) => id).sort());
  });

  it('runs on request whatever filters and rate say, and while disabled', async () => {
    const judge = await bench.make({ enabled: false, sample_rate: 0, filters: { names: ['none'] } });
    const span = await api.postOne();
    await api.expect(202, 'POST', `judges/${judge['id']}:run`, { span_ids: [span['id']] });
    await api.evaluated(judge, span);
    const path = `judges/${judge['id']}:run`;
    expect(await api.refused('POST', path, { span_ids: [span['id'], randomUUID()] })).to.deep.equal({
      '/span_ids/1': 'there is no span with this id',
    });
    for (const body of [
      {},
      { span_ids: [span['id']], backfill: 1 },
      { span_ids: [] },
      { backfill: 0 },
      { backfill: 10_001 },
    ])
      await api.expect(422, 'POST', path, body);
    await api.expect(404, 'POST', `judges/${randomUUID()}:run`, { backfill: 1 });
    expect(endpoint.asked).to.have.length(1);
  });

  it('fills back the newest spans that match', async () => {
    const name = `backfill ${randomUUID()}`;
    await api.expect(200, 'POST', '/v1/tasks/backfilled/prompt/versions/ensure', { content: 'x' });
    const spans = Array.from({ length: 10 }, (_, index) =>
      finished({ name, started_at: 1_700_000_000 + index, attributes: index % 2 === 0 ? { task: 'backfilled' } : {} }),
    );
    await api.post(...spans, finished({ name, output_data: undefined }));
    const judge = await bench.make({ enabled: false, filters: { names: [name] } });
    const newest = await api.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: 3 });
    expect(newest.runs.map(({ span_id }: Json) => span_id)).to.deep.equal(
      [9, 8, 7].map((index) => spans[index]?.['id']),
    );
    const all = await api.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: 100 });
    expect(all.queued).to.equal(10);
    await api.patch(judge['id'], { filters: { prompt_slug: 'backfilled' } });
    const completions = await api.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: 2 });
    expect(completions.runs.map(({ span_id }: Json) => span_id)).to.deep.equal(
      [8, 6].map((index) => spans[index]?.['id']),
    );
    await eventually(
      () => api.evaluations(judge),
      (found) => found.length === 15,
    );
  });
});
