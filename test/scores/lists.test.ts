import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CheckedApi, type ListName } from '../harness/checked-api.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

describe('lists by scores', () => {
  let api: CheckedApi;
  let scores: ScoreApi;
  const names = new Map<string, string>();
  const ids = new Map<string, string>();
  const idOf = (name: string) => ids.get(name) ?? '';

  before(async () => {
    api = await CheckedApi.boot();
    scores = await scoreApi(api.server);
    const made = (name: string) => {
      const id = randomUUID();
      names.set(id, name);
      ids.set(name, id);
      return id;
    };
    for (const name of ['session a', 'session b', 'trace a', 'trace b', 'trace c']) made(name);
    const span = (name: string, trace: string, session: string) => ({
      ...{ id: made(name), trace_id: idOf(trace), session_id: idOf(session), name, started_at: '2026-01-15T10:00:00Z' },
    });
    await api.post('spans', [
      { ...span('one', 'trace a', 'session a'), tags: { team: 'x' } },
      span('two', 'trace a', 'session a'),
      span('three', 'trace b', 'session a'),
      span('four', 'trace c', 'session b'),
    ]);
    await scores.post([
      of('one', 'level', 0.2),
      of('two', 'level', 0.9),
      of('three', 'level', 0.5, { author: 'first' }),
      of('one', 'mood', 'calm'),
      of('two', 'mood', 'cross'),
      of('four', 'good', true),
      of('trace b', 'good', false, { entity_type: 'trace' }),
      of('session b', 'note', 'x'.repeat(300), { entity_type: 'session' }),
    ]);
  });
  after(() => api?.dispose());

  function of(entity: string, name: string, value: unknown, more = {}) {
    return score({ entity_id: idOf(entity), name, value, ...more });
  }

  async function found(list: ListName, query: string): Promise<string[]> {
    const rows = await api.get(list, query);
    return rows.map((row) => names.get(row['id'] as string) ?? 'unknown');
  }

  const sorted = async (list: ListName, query: string) => (await found(list, query)).sort();

  it('find spans by ranges and values', async () => {
    expect(await sorted('spans', 'scores.level=0.5..')).to.deep.equal(['three', 'two']);
    expect(await sorted('spans', 'scores.level=..0.5')).to.deep.equal(['one', 'three']);
    expect(await sorted('spans', 'scores.level=0.2..0.5')).to.deep.equal(['one', 'three']);
    expect(await sorted('spans', 'scores.level=0.9,0.20')).to.deep.equal(['one', 'two']);
    expect(await sorted('spans', 'scores.mood=calm,cross')).to.deep.equal(['one', 'two']);
    expect(await sorted('spans', 'scores.good=true')).to.deep.equal(['four']);
    expect(await sorted('spans', 'scores.level=..&scores.mood=calm').catch(() => ['refused'])).to.deep.equal([
      'refused',
    ]);
    expect(await sorted('spans', 'scores.level=0..1&scores.mood=calm')).to.deep.equal(['one']);
    expect(await sorted('spans', 'scores.nothing=1')).to.deep.equal([]);
  });

  it('find traces and sessions by their own scores and by those of what is in them', async () => {
    expect(await sorted('traces', 'scores.level=0.8..')).to.deep.equal(['trace a']);
    expect(await sorted('traces', 'scores.good=false')).to.deep.equal(['trace b']);
    expect(await sorted('traces', 'scores.good=true,false')).to.deep.equal(['trace b', 'trace c']);
    expect(await sorted('sessions', 'scores.level=0.8..')).to.deep.equal([]);
    expect(await sorted('sessions', 'scores.good=true')).to.deep.equal(['session b']);
    expect(await sorted('sessions', `scores.note=${'x'.repeat(300)}`)).to.deep.equal(['session b']);
  });

  it('sort by a score, those without one last', async () => {
    expect((await found('spans', 'sort_by=scores.level')).slice(0, 3)).to.deep.equal(['two', 'three', 'one']);
    expect((await found('spans', 'sort_by=scores.level&sort_order=asc')).slice(0, 3)).to.deep.equal([
      'one',
      'three',
      'two',
    ]);
    expect((await found('spans', 'sort_by=scores.mood')).slice(0, 2)).to.deep.equal(['two', 'one']);
    expect(await found('traces', 'sort_by=scores.good&limit=2')).to.deep.equal(['trace c', 'trace b']);
    expect(await found('sessions', 'sort_by=scores.good&limit=1')).to.deep.equal(['session b']);
    expect(await found('spans', 'sort_by=scores.level&limit=1&offset=1&scores.level=0..1')).to.deep.equal(['three']);
  });

  it('go together with tags, ids, pages and the scores shown', async () => {
    const tagged = { spans: 'one', traces: 'trace a', sessions: 'session a' };
    const parts = ['sort_by=scores.level', 'scores.level=0..1', 'fields=id,scores'];
    const choices = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => parts.filter((_, place) => (bits & (1 << place)) !== 0));
    for (const list of ['spans', 'traces', 'sessions'] as const)
      for (const choice of choices) {
        const query = ['team=x', ...choice].join('&');
        const one = [tagged[list]];
        expect(await found(list, query), `${list} ${query}`).to.deep.equal(one);
        expect(await found(list, `${query}&offset=1`), `${list} ${query}`).to.deep.equal([]);
        expect(await found(list, `${query}&id=${idOf(tagged[list])}`), `${list} ${query}`).to.deep.equal(one);
      }
  });

  it('sort what no round has stored yet, too', async () => {
    for (const list of ['spans', 'traces', 'sessions'] as const)
      for (const query of ['sort_by=scores.good', 'sort_by=scores.good&scores.good=true,false', 'scores.good=true']) {
        const again = { trace_id: idOf('trace c'), session_id: idOf('session b'), started_at: '2026-01-15T10:00:00Z' };
        await api.post('spans', [{ ...again, id: idOf('four'), name: 'four' }]);
        const [first] = await found(list, query);
        expect(first, query).to.equal({ spans: 'four', traces: 'trace c', sessions: 'session b' }[list]);
      }
  });

  it('go by the newest score of a name, whoever gave it, as soon as it is stored', async () => {
    await scores.post(of('three', 'level', 0.95, { author: 'second' }));
    expect(await found('spans', 'sort_by=scores.level&limit=1')).to.deep.equal(['three']);
    expect(await sorted('spans', 'scores.level=0.4..0.6')).to.deep.equal([]);
    const [{ id }] = await scores.list(`?entity_id=${idOf('three')}&author=second`);
    await scores.remove(id);
    expect(await sorted('spans', 'scores.level=0.4..0.6')).to.deep.equal(['three']);
  });

  it('count and compute figures of what they find', async () => {
    const { headers } = await api.send('GET', 'spans', 'scores.level=0..1&count=true&limit=1');
    expect(headers.get('x-total-count')).to.equal('3');
    const stats = await api.server.request('GET', '/traces:stats?scores.good=true,false');
    expect(stats.json.totals.count).to.equal(2);
    const facets = await api.server.request(
      'GET',
      '/spans:facets?field=name&scores.mood=calm&started_after=2026-01-01',
    );
    expect(facets.json.values.map(({ value }: { value: string }) => value)).to.deep.equal(['one']);
  });

  it('refuse what is no range and no value, and tell tags from scores', async () => {
    expect(await api.refused('GET', 'spans', 'scores.level=..')).to.have.keys('?scores');
    expect(await api.refused('GET', 'spans', 'sort_by=scores.')).to.have.keys('?sort_by');
    expect(await api.get('spans', 'tags.scores.level=1')).to.deep.equal([]);
    const { headers } = await api.send('GET', 'spans', 'scores.level=1&level=2');
    expect(headers.get('x-tag-filters')).to.equal('level');
  });
});
