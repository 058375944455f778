import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

const NOTHING = { count: 0, mean: null, min: null, max: null, p50: null, p95: null, p99: null };

describe('statistics of scores', () => {
  let server: TestServer;
  let scores: ScoreApi;
  let document: ApiDocument;
  const [session, one, two, three] = Array.from({ length: 4 }, () => randomUUID());
  const spans = Array.from({ length: 4 }, () => randomUUID());

  before(async () => {
    server = await sharedServer();
    scores = await scoreApi(server);
    document = await ApiDocument.of(server);
    const at = (index: number) => `2026-01-1${index}T10:00:00Z`;
    const traces = [one, one, two, three];
    const body = spans.map((id, index) => ({
      ...{ id, trace_id: traces[index], session_id: index < 3 ? session : three, name: index < 2 ? 'a' : 'b' },
      ...{ started_at: at(index), tags: { side: index % 2 === 0 ? 'even' : 'odd' } },
    }));
    expect((await server.request('POST', '/spans', { body })).status).to.equal(200);
    const [first = '', second = '', third = ''] = spans;
    await scores.post([
      ...[0.1, 0.2, 0.9].map((value, index) => of(spans[index] ?? '', 'quality', value)),
      of(first, 'quality', 0.4, { author: 'later' }),
      of(first, 'ok', true),
      of(second, 'ok', true),
      of(third, 'ok', false),
      of(first, 'tone', 'calm'),
      of(second, 'tone', 'cross'),
      of(three ?? '', 'tone', 'calm', { entity_type: 'trace' }),
      of(session ?? '', 'stars', 5, { entity_type: 'session' }),
    ]);
  });
  after(() => server.dispose());

  function of(entity_id: string, name: string, value: unknown, more = {}) {
    return score({ entity_id, name, value, ...more });
  }

  async function get(path: string, status = 200) {
    const answer = await server.request('GET', path);
    document.check('GET', path, answer);
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  }

  const totals = async (path: string) => (await get(path)).totals;

  it('give count, mean, bounds and percentiles of the newest scores, in all and by time', async () => {
    const { totals, buckets } = await get('/spans:stats?measures=count,scores.quality,scores.ok,scores.tone&bucket=1d');
    expect(totals['scores.quality'].mean).to.be.closeTo(0.5, 1e-12);
    expect({ ...totals, 'scores.quality': { ...totals['scores.quality'], mean: 0 } }).to.deep.equal({
      count: 4,
      'scores.quality': { count: 3, mean: 0, min: 0.2, max: 0.9, p50: 0.4, p95: 0.9, p99: 0.9 },
      'scores.ok': { count: 3, mean: 2 / 3, min: 0, max: 1, p50: 1, p95: 1, p99: 1 },
      'scores.tone': NOTHING,
    });
    expect(buckets.map((bucket: any) => bucket['scores.quality'].max)).to.deep.equal([0.4, 0.2, 0.9, null]);
  });

  it('go by the scores of what is in a trace or session, and by the filters of the list', async () => {
    const quality = async (path: string) => (await totals(`${path}measures=scores.quality`))['scores.quality'];
    // The newest of the first trace is the later one of its first span.
    expect(await quality('/traces:stats?')).to.include({ count: 2, min: 0.4, max: 0.9 });
    expect(await quality('/sessions:stats?')).to.include({ count: 1, min: 0.4, max: 0.4 });
    expect(await quality('/spans:stats?scores.ok=true&')).to.include({ count: 2, min: 0.2, max: 0.4 });
    expect(await quality('/spans:stats?names=nothing&')).to.deep.equal(NOTHING);
    expect((await totals('/sessions:stats?measures=scores.stars'))['scores.stars']).to.include({ count: 1, mean: 5 });
  });

  it('group by their values, and by other values', async () => {
    const groups = async (path: string) =>
      (await get(path)).groups.map(({ value, totals }: any) => [value, totals.count, totals['scores.quality']?.max]);
    const measures = 'measures=count,scores.quality';
    expect(await groups(`/spans:stats?group_by=scores.tone&${measures}`)).to.deep.equal([
      [null, 2, 0.9],
      ['calm', 1, 0.4],
      ['cross', 1, 0.2],
    ]);
    expect(await groups(`/traces:stats?group_by=scores.tone&${measures}`)).to.deep.equal([
      ['calm', 1, null],
      ['cross', 1, 0.4],
      [null, 1, 0.9],
    ]);
    expect(await groups(`/spans:stats?group_by=scores.ok&${measures}&scores.ok=true,false`)).to.deep.equal([
      [true, 2, 0.4],
      [false, 1, 0.9],
    ]);
    expect(await groups(`/spans:stats?group_by=scores.quality&measures=count&scores.quality=0..0.5`)).to.deep.equal([
      [0.2, 1, undefined],
      [0.4, 1, undefined],
    ]);
    expect(await groups(`/spans:stats?group_by=name&${measures}`)).to.deep.equal([
      ['a', 2, 0.4],
      ['b', 2, 0.9],
    ]);
    expect(await groups(`/traces:stats?group_by=tags.side&${measures}`)).to.deep.equal([
      ['even', 2, 0.9],
      ['odd', 2, 0.4],
    ]);
  });

  it('count their values', async () => {
    const facets = async (list: string, field: string) =>
      (await get(`/${list}:facets?started_after=2026-01-01&field=${field}`)).values.map(({ value, count }: any) => [
        value,
        count,
      ]);
    expect(await facets('spans', 'scores.ok')).to.deep.equal([
      [true, 2],
      [false, 1],
    ]);
    expect(await facets('traces', 'scores.tone')).to.deep.equal([
      ['calm', 1],
      ['cross', 1],
    ]);
    expect(await facets('sessions', 'scores.stars')).to.deep.equal([[5, 1]]);
    expect(await facets('traces', 'scores.tone&prefix=CA')).to.deep.equal([['calm', 1]]);
    expect((await get('/spans:facets?field=scores.tone&started_after=0')).field).to.equal('scores.tone');
  });

  it('leave out values that are too long for a filter', async () => {
    await scores.post(of(spans[0] ?? '', 'note', 'x'.repeat(4097)));
    await scores.post(of(spans[1] ?? '', 'note', 'y'.repeat(4096)));
    const { values, total } = await get('/spans:facets?started_after=2026-01-01&field=scores.note');
    expect([values.length, values[0].value.length, total]).to.deep.equal([1, 4096, 2]);
  });

  it('refuse what names no score', async () => {
    for (const query of [
      'measures=scores.',
      `measures=scores.${'x'.repeat(129)}`,
      'measures=count,score',
      'group_by=scores.',
    ])
      expect((await get(`/spans:stats?${query}`, 422)).errors, query).to.have.length(1);
    const many = Array.from({ length: 16 }, (_, index) => `scores.n${index}`).join(',');
    expect((await get(`/spans:stats?measures=${many}`, 422)).errors[0].detail).to.equal('must have at most 15 items');
  });
});
