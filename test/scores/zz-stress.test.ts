import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CheckedApi, type Row } from '../harness/checked-api.js';
import { score, scoreApi } from './score-api.js';

const ROUNDS = Number(process.env['ROUNDS'] ?? 30);
const SPANS = 1_000;

describe('stress', function () {
  this.timeout(3_000_000);
  it('pages', async () => {
    let failed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const api = await CheckedApi.boot();
      const scores = await scoreApi(api.server);
      const spans = Array.from({ length: SPANS }, () => randomUUID() as string);
      await api.post('spans', spans.map((id, index) => ({ id, trace_id: randomUUID(), name: index % 3 === 0 ? 'third' : 'other', started_at: new Date(Date.UTC(2026, 0, 1) + index).toISOString() })));
      const newest = new Map<string, Map<string, number>>();
      const live = new Map<string, { given: any; order: number; id: string }>();
      let order = 0;
      const give = async (part: any[]) => {
        const stored = await scores.post(part);
        part.forEach((given, index) => live.set(stored[index].id, { given, order: (order += 1), id: stored[index].id }));
      };
      const some = (share: number) => spans.filter(() => Math.random() < share);
      const level = (id: string, more = {}) => score({ entity_id: id, name: 'level', value: Math.random(), ...more });
      await give(some(0.8).map((id) => level(id)));
      await give(some(0.5).map((id) => score({ entity_id: id, name: 'stars', value: Math.ceil(Math.random() * 5) })));
      await give(some(0.2).map((id) => level(id, { author: 'second' })));
      await give(some(0.2).map((id) => level(id)));
      for (const { id } of [...live.values()].sort((a, b) => b.given['value'] - a.given['value']).slice(0, 8)) {
        await scores.remove(id);
        live.delete(id);
      }
      for (const { given } of [...live.values()].sort((a, b) => a.order - b.order))
        newest.set(given.entity_id, (newest.get(given.entity_id) ?? new Map()).set(given.name, given.value));
      for (const [query, wanted] of [
        ['sort_by=scores.level&scores.stars=5', spans.filter((id) => newest.get(id)?.get('stars') === 5)],
        ['sort_by=scores.level&names=third', spans.filter((_, index) => index % 3 === 0)],
        ['sort_by=scores.level&sort_order=asc&scores.stars=4', spans.filter((id) => newest.get(id)?.get('stars') === 4)],
      ] as const)
        for (const limit of [30, 17, 50]) {
          const rows: Row[] = [];
          for (let offset = 0; ; offset += limit) {
            const page = await api.get('spans', `${query}&fields=id,scores&limit=${limit}&offset=${offset}`);
            rows.push(...page);
            if (page.length < limit) break;
          }
          const valueOf = (id: string) => newest.get(id)?.get('level');
          const got = rows.map((row) => row['id'] as string);
          const told = (id: string) => [got.indexOf(id), got.lastIndexOf(id), valueOf(id)];
          const twice = got.filter((id, place) => got.indexOf(id) !== place).map(told);
          const missing = wanted.filter((id) => !got.includes(id)).map(told);
          const wrong = rows.filter((row) => row['scores']['level'] !== valueOf(row['id'] as string)).length;
          if (twice.length + missing.length + wrong > 0 || got.length !== wanted.length) {
            failed += 1;
            console.log(JSON.stringify({ round, query, limit, got: got.length, wanted: wanted.length, twice, missing, wrong }));
          }
        }
      await api.dispose();
    }
    expect(failed).to.equal(0);
  });
});
