import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CheckedApi, type ListName, type Row } from '../harness/checked-api.js';
import { TailClient } from '../harness/tail-client.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

describe('scores in rows of lists', () => {
  let api: CheckedApi;
  let scores: ScoreApi;
  const [trace, session, first, second, bare] = Array.from({ length: 5 }, () => randomUUID()) as [
    string,
    string,
    string,
    string,
    string,
  ];

  before(async () => {
    api = await CheckedApi.boot();
    scores = await scoreApi(api.server);
    const span = (id: string) => ({
      id,
      trace_id: trace,
      session_id: session,
      name: 'a',
      started_at: '2026-01-15T10:00:00Z',
    });
    await api.post('spans', [span(first), span(second), { ...span(bare), trace_id: bare, session_id: bare }]);
    await scores.post([
      score({ entity_id: first, name: 'quality', value: 0.1, author: 'earlier' }),
      score({ entity_id: first, name: 'quality', value: 0.9, author: 'later' }),
      score({ entity_id: first, name: 'ok', value: true }),
      score({ entity_id: second, name: 'ok', value: false }),
      score({ entity_id: second, name: 'a "name"', value: 'a "text"\nof lines' }),
      score({ entity_type: 'trace', entity_id: trace, name: 'tone', value: 'calm' }),
      score({ entity_type: 'session', entity_id: session, name: 'stars', value: 5 }),
    ]);
  });
  after(() => api?.dispose());

  async function shown(list: ListName, id: string, query = ''): Promise<unknown> {
    const [row] = await api.get(list, `id=${id}&fields=id,scores${query}`);
    expect(row).to.have.all.keys('id', 'scores');
    return (row as Row)['scores'];
  }

  it('show the newest value of each name, of the object and of what is in it', async () => {
    const text = { 'a "name"': 'a "text"\nof lines' };
    expect(await shown('spans', first)).to.deep.equal({ quality: 0.9, ok: true });
    expect(await shown('spans', second)).to.deep.equal({ ok: false, ...text });
    expect(await shown('traces', trace)).to.deep.equal({ quality: 0.9, ok: false, tone: 'calm', ...text });
    expect(await shown('sessions', session)).to.deep.equal({
      quality: 0.9,
      ok: false,
      tone: 'calm',
      stars: 5,
      ...text,
    });
    for (const list of ['spans', 'traces', 'sessions'] as const) expect(await shown(list, bare)).to.deep.equal({});
  });

  it('show the same again, and what has changed since', async () => {
    const lists = ['spans', 'traces', 'sessions'] as const;
    const all = async (list: ListName) => {
      const rows = await api.get(list, 'limit=10&fields=id,scores');
      return new Map(rows.map((row) => [row['id'], row['scores']]));
    };
    const before = await Promise.all(lists.map(all));
    // By then, those of traces and sessions are stored.
    for (let time = 0; time < 3; time += 1)
      for (const [index, list] of lists.entries()) expect(await all(list), list).to.deep.equal(before[index]);
    const given = score({ entity_id: bare, name: 'ok', value: true });
    await scores.post([given]);
    for (const [index, list] of lists.entries())
      expect(await all(list), list).to.deep.equal(new Map([...(before[index] ?? []), [bare, { ok: true }]]));
    const [found] = await scores.list(`?entity_id=${bare}`);
    await scores.remove(found.id);
    for (const [index, list] of lists.entries()) expect(await all(list), list).to.deep.equal(before[index]);
  });

  it('show them beside every field, on every page in every order', async () => {
    for (const list of ['spans', 'traces', 'sessions'] as const)
      for (const order of [
        '',
        'sort_by=cost&',
        'sort_by=scores.quality&',
        'scores.ok=true,false&',
        'q=nothing&',
        'tone=x&',
      ]) {
        const plain = await api.get(list, `${order}limit=2&offset=1`);
        const fields = Object.keys(plain[0] ?? { id: '' });
        const rows = await api.get(list, `${order}limit=2&offset=1&fields=${fields.join(',')},scores`);
        expect(
          rows.map(({ scores: _, ...row }) => row),
          `${list}?${order}`,
        ).to.deep.equal(plain);
        for (const row of rows) expect(row['scores']).to.deep.equal(await shown(list, row['id'] as string));
      }
  });

  it('leave them out unless they are named', async () => {
    const [row] = await api.get('spans', `id=${first}`);
    expect(row).not.to.have.property('scores');
  });

  it('follow what is replaced and deleted', async () => {
    await scores.post(score({ entity_id: first, name: 'quality', value: 0.2, author: 'earlier' }));
    expect(await shown('traces', trace)).to.include({ quality: 0.2 });
    const [{ id }] = await scores.list(`?entity_id=${first}&name=quality&author=earlier`);
    await scores.remove(id);
    for (const [list, of] of [
      ['traces', trace],
      ['spans', first],
    ] as const)
      expect(await shown(list, of)).to.include({ quality: 0.9 });
  });

  it('tell them to those who follow a list', async () => {
    for (const list of ['spans', 'traces'] as const) {
      const client = await TailClient.open(api.server, `/${list}:tail?fields=id,scores`);
      await api.post('spans', [{ id: bare, trace_id: bare, name: 'again', started_at: '2026-01-15T10:00:00Z' }]);
      await client.until(() => client.rows.length > 0, 8_000);
      expect(client.rows).to.deep.equal([{ id: bare, scores: {} }]);
      await api.post('spans', [{ id: first, trace_id: trace, name: 'again', started_at: '2026-01-15T10:00:00Z' }]);
      await client.until(() => client.rows.length > 1, 8_000);
      expect(client.rows[1]).to.deep.equal({
        id: list === 'spans' ? first : trace,
        scores: await shown(list, list === 'spans' ? first : trace),
      });
      client.close();
    }
  });

  it('cut texts, and stop after 100 names', async () => {
    const id = randomUUID();
    await api.post('spans', [{ id, trace_id: id, name: 'many', started_at: '2026-01-15T10:00:00Z' }]);
    await scores.post(score({ entity_id: id, name: 'a long text', value: 'x'.repeat(5_000) }));
    const name = (index: number) => `n${String(index).padStart(3, '0')}`;
    await scores.post(Array.from({ length: 120 }, (_, index) => score({ entity_id: id, name: name(index), value: 1 })));
    for (const list of ['spans', 'traces'] as const) {
      const values = (await shown(list, id)) as Record<string, unknown>;
      expect(Object.keys(values)).to.deep.equal([
        'a long text',
        ...Array.from({ length: 99 }, (_, index) => name(index)),
      ]);
      expect(values['a long text']).to.match(/^x+\n\[… 4000 characters left out here …\]\nx+$/);
      const whole = (await shown(list, id, '&text_limit=100000')) as Record<string, unknown>;
      expect(whole['a long text']).to.equal('x'.repeat(5_000));
    }
  });
});
