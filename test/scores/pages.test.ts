import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { CheckedApi, type ListName, type Row } from '../harness/checked-api.js';
import { score, scoreApi } from './score-api.js';

const SPANS = 3_000;
const SPANS_PER_TRACE = 10;
const TRACES_PER_SESSION = 5;
const LISTS = ['spans', 'traces', 'sessions'] as const;

type Given = Readonly<Record<string, any>>;

/** So many scores that the first of them are looked at before all. */
describe('pages of lists by scores', function () {
  this.timeout(300_000);
  let api: CheckedApi;
  /** The newest value of each name, by object. */
  const newest = new Map<string, Map<string, number>>();
  const spans = Array.from({ length: SPANS }, () => randomUUID() as string);
  const traces = Array.from({ length: SPANS / SPANS_PER_TRACE }, () => randomUUID() as string);
  const sessions = Array.from({ length: traces.length / TRACES_PER_SESSION }, () => randomUUID() as string);
  const objects: Readonly<Record<ListName, readonly string[]>> = { spans, traces, sessions };

  before(async () => {
    api = await CheckedApi.boot();
    const scores = await scoreApi(api.server);
    const random = new Random(11);
    const traceOf = (index: number) => Math.floor(index / SPANS_PER_TRACE);
    const body = spans.map((id, index) => ({
      ...{
        id,
        trace_id: traces[traceOf(index)],
        session_id: sessions[Math.floor(traceOf(index) / TRACES_PER_SESSION)],
      },
      ...{
        name: index % 3 === 0 ? 'third' : 'other',
        started_at: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
      },
    }));
    for (let from = 0; from < SPANS; from += 1_000) await api.post('spans', body.slice(from, from + 1_000));

    const live = new Map<string, { given: Given; order: number; id: string }>();
    let order = 0;
    const give = async (all: readonly Given[]) => {
      for (let from = 0; from < all.length; from += 1_000) {
        const part = all.slice(from, from + 1_000);
        const stored = await scores.post(part);
        part.forEach((given, index) =>
          live.set(stored[index].id, { given, order: (order += 1), id: stored[index].id }),
        );
      }
    };
    const some = (share: number) => spans.filter(() => random.next() < share);
    const level = (id: string, more = {}) => score({ entity_id: id, name: 'level', value: random.next(), ...more });
    const stars = (id: string, more = {}) =>
      score({ entity_id: id, name: 'stars', value: Math.ceil(random.next() * 5), ...more });
    await give(some(0.8).map((id) => level(id)));
    await give(some(0.5).map((id) => stars(id)));
    await give(some(0.2).map((id) => level(id, { author: 'second' })));
    await give(some(0.2).map((id) => level(id)));
    await give(traces.slice(0, 20).map((id) => level(id, { entity_type: 'trace' })));
    for (const { id } of [...live.values()].sort((a, b) => b.given['value'] - a.given['value']).slice(0, 30)) {
      expect((await scores.remove(id)).status).to.equal(204);
      live.delete(id);
    }

    for (const { given } of [...live.values()].sort((a, b) => a.order - b.order)) {
      const { entity_type, entity_id, name, value } = given;
      const trace = entity_type === 'trace' ? traces.indexOf(entity_id) : traceOf(spans.indexOf(entity_id));
      const holders = [entity_id, traces[trace], sessions[Math.floor(trace / TRACES_PER_SESSION)]] as string[];
      for (const holder of new Set(holders)) newest.set(holder, (newest.get(holder) ?? new Map()).set(name, value));
    }
  });
  after(() => api?.dispose());

  /** All pages of a list, one behind the other. */
  async function paged(list: ListName, query: string, limit: number): Promise<Row[]> {
    const rows: Row[] = [];
    for (let offset = 0; ; offset += limit) {
      const page = await api.get(list, `${query}&fields=id,scores&limit=${limit}&offset=${offset}`);
      rows.push(...page);
      if (page.length < limit) return rows;
    }
  }

  function expectOrder(rows: readonly Row[], wanted: readonly string[], name: string, descending: boolean): void {
    const valueOf = (id: string) => newest.get(id)?.get(name);
    const ids = rows.map((row) => row['id'] as string);
    const told = (id: string) => [ids.indexOf(id), ids.lastIndexOf(id), valueOf(id)];
    expect(ids.filter((id, place) => ids.indexOf(id) !== place).map(told), 'twice').to.deep.equal([]);
    expect(wanted.filter((id) => !ids.includes(id)).map(told), 'missing').to.deep.equal([]);
    expect(ids, 'others').to.have.length(wanted.length);
    const known = wanted.flatMap((id) => valueOf(id) ?? []).sort((a, b) => (descending ? b - a : a - b));
    expect(ids.flatMap((id) => valueOf(id) ?? [])).to.deep.equal(known);
    expect(ids.slice(known.length).filter((id) => valueOf(id) !== undefined)).to.deep.equal([]);
    for (const row of rows) expect(row['scores'][name], row['id']).to.equal(valueOf(row['id']));
  }

  for (const list of LISTS)
    for (const name of ['level', 'stars'])
      for (const order of ['desc', 'asc'])
        it(`have all ${list} once, by ${name} ${order}`, async () => {
          const limit = { spans: 500, traces: 25, sessions: 7 }[list];
          const rows = await paged(list, `sort_by=scores.${name}&sort_order=${order}`, limit);
          expectOrder(rows, objects[list], name, order === 'desc');
        });

  it('have those that filters select', async () => {
    const third = spans.filter((_, index) => index % 3 === 0);
    expectOrder(await paged('spans', 'sort_by=scores.level&names=third', 100), third, 'level', true);
    const most = spans.filter((id) => newest.get(id)?.get('stars') === 5);
    expectOrder(await paged('spans', 'sort_by=scores.level&scores.stars=5', 100), most, 'level', true);
    expect(await paged('spans', 'sort_by=scores.level&names=nothing', 100)).to.deep.equal([]);
  });

  it('have those with a value, however many spans have had several', async () => {
    const expectFound = async () => {
      for (const from of [0.25, 0.5]) {
        const wanted = spans.filter((id) => inRange(newest.get(id)?.get('level'), from)).reverse();
        const ids = await api.ids('spans', `scores.level=${from}..${from + 0.1}&limit=50`);
        expect(ids).to.deep.equal(wanted.slice(0, 50));
      }
    };
    const inRange = (value: number | undefined, from: number) =>
      value !== undefined && value >= from && value <= from + 0.1;
    await expectFound();
    const scores = await scoreApi(api.server);
    const again = spans.slice(0, 1_100);
    for (let author = 0; author < 2; author += 1) {
      const given = again.map((entity_id, index) =>
        score({ entity_id, name: 'level', value: ((index * 7 + author) % 100) / 100, author: `again ${author}` }),
      );
      for (const part of [given.slice(0, 600), given.slice(600)]) await scores.post(part);
      for (const { entity_id, value } of given) {
        const trace = Math.floor(spans.indexOf(entity_id) / SPANS_PER_TRACE);
        const holders = [entity_id, traces[trace], sessions[Math.floor(trace / TRACES_PER_SESSION)]] as string[];
        for (const holder of holders) newest.set(holder, (newest.get(holder) ?? new Map()).set('level', value));
      }
      await expectFound();
    }
  });

  it('go by what is written between them', async () => {
    const [last = ''] = await api.ids('spans', 'sort_by=scores.level&sort_order=asc&limit=1');
    const scores = await scoreApi(api.server);
    const [{ id }] = await scores.post([score({ entity_id: last, name: 'level', value: 2, author: 'third' })]);
    for (const [list, first] of [
      ['spans', last],
      ['traces', traces[Math.floor(spans.indexOf(last) / SPANS_PER_TRACE)]],
    ] as const)
      expect(await api.ids(list, 'sort_by=scores.level&limit=1')).to.deep.equal([first]);
    await scores.remove(id);
    expect(await api.ids('spans', 'sort_by=scores.level&sort_order=asc&limit=1')).to.deep.equal([last]);
  });
});
