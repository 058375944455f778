import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CheckedApi } from '../harness/checked-api.js';
import { HeldScores } from './held-scores.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

const SPANS = 40;
const STEPS = 25;

/** Small pages, which are found among the first values alone, against a recount. */
describe('first pages by scores', () => {
  let api: CheckedApi;
  let scores: ScoreApi;
  const ids = Array.from({ length: SPANS }, (): string => randomUUID());
  /** The writes of each span, by author, the last one last. */
  const given = new Map(ids.map((id) => [id, new Map<string, number>()]));
  let random = 7;
  const next = (below: number) => {
    random = (random * 1103515245 + 12345) % 2147483648;
    return Math.floor((random / 2147483648) * below);
  };

  before(async () => {
    api = await CheckedApi.boot();
    scores = await scoreApi(api.server);
    await api.post(
      'spans',
      ids.map((id, index) => ({
        ...{ id, trace_id: randomUUID(), name: 'one' },
        started_at: `2026-01-15T10:00:${String(index).padStart(2, '0')}Z`,
      })),
    );
  });
  after(() => api?.dispose());

  const newest = (id: string) => [...(given.get(id)?.values() ?? [])].at(-1);

  async function write(): Promise<void> {
    const some = Array.from({ length: 1 + next(6) }, () => ({
      ...{ id: ids[next(SPANS)] ?? '', author: `author ${next(2)}`, value: next(5) / 4 },
    }));
    const entries = [...new Map(some.map((each) => [each.id, each])).values()];
    await scores.post(entries.map(({ id, author, value }) => score({ entity_id: id, name: 'level', author, value })));
    for (const { id, author, value } of entries) {
      given.get(id)?.delete(author);
      given.get(id)?.set(author, value);
    }
  }

  async function remove(): Promise<void> {
    const id = ids[next(SPANS)] ?? '';
    const author = [...(given.get(id)?.keys() ?? [])][0];
    if (author === undefined) return;
    const [found] = await scores.list(`?entity_id=${id}&author=${encodeURIComponent(author)}`);
    await scores.remove(found.id);
    given.get(id)?.delete(author);
  }

  async function check(step: number): Promise<void> {
    const limit = 1 + next(8);
    const offset = next(3);
    const page = `limit=${limit}&offset=${offset}`;
    for (const order of ['desc', 'asc'] as const) {
      const sign = order === 'desc' ? -1 : 1;
      const sorted = ids.flatMap((id) => newest(id) ?? []).sort((a, b) => sign * (a - b));
      const rows = await api.get('spans', `${page}&sort_by=scores.level&sort_order=${order}`);
      const shown = rows.flatMap(({ id }) => newest(String(id)) ?? []);
      expect(shown, `step ${step}, ${order}, ${page}`).to.deep.equal(sorted.slice(offset, offset + limit));
    }
    const found = ids.filter((id) => [0.25, 0.5].includes(newest(id) ?? -1)).reverse();
    const rows = await api.get('spans', `${page}&scores.level=0.2..0.6`);
    expect(
      rows.map(({ id }) => id),
      `step ${step}, filtered, ${page}`,
    ).to.deep.equal(found.slice(offset, offset + limit));
  }

  it('of spans hold what a recount says, after writes, other authors, and deletions', async () => {
    for (let step = 0; step < STEPS; step += 1) {
      await (next(4) === 0 ? remove() : write());
      await check(step);
    }
  });

  it('of traces and sessions hold it, too, after moves between sessions', async () => {
    const held = new HeldScores(api, scores, next);
    await held.sendAll();
    for (let step = 0; step < STEPS / 2; step += 1) {
      await held.change();
      await held.check(`step ${step}`);
    }
  });
});
