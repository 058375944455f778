import { expect } from 'chai';
import { CheckedApi, listNames, span, uuid } from '../harness/checked-api.js';

const MINUTES = [1, 30, 90, 60 * 26, 60 * 24 * 9];

describe('lists by when things started', () => {
  let api: CheckedApi;
  before(async () => {
    api = await CheckedApi.boot();
    const now = Date.now();
    await api.post(
      'spans',
      MINUTES.map((minutes, index) => {
        const ids = { trace_id: uuid(1000 + index), session_id: uuid(2000 + index) };
        return span(index, { ...ids, started_at: new Date(now - minutes * 60_000).toISOString(), duration_ms: 1 });
      }),
    );
  });
  after(() => api.dispose());

  for (const list of listNames) {
    const numbers = async (query: string) =>
      (await api.ids(list, query)).map((id) => Number.parseInt(id.slice(-12), 16) % 1000).sort();

    it(`GET /${list} takes how long ago`, async () => {
      expect(await numbers('started_after=900s')).to.deep.equal([0]);
      expect(await numbers('started_after=1h')).to.deep.equal([0, 1]);
      expect(await numbers('started_after=1d')).to.deep.equal([0, 1, 2]);
      expect(await numbers('started_after=7d')).to.deep.equal([0, 1, 2, 3]);
      expect(await numbers('started_after=2w')).to.deep.equal([0, 1, 2, 3, 4]);
      expect(await numbers('started_after=7d&started_before=1h')).to.deep.equal([2, 3]);
      expect(await numbers('created_after=15m')).to.deep.equal([0, 1, 2, 3, 4]);
      expect(await numbers('created_before=15m')).to.deep.equal([]);
    });

    it(`GET /${list} goes with other filters, sorts, pages and counts`, async () => {
      expect(await numbers('started_after=7d&names=nobody')).to.deep.equal([]);
      expect(await numbers('started_after=7d&sort_by=cost&limit=10')).to.deep.equal([0, 1, 2, 3]);
      expect(await numbers('started_after=7d&limit=2&offset=1')).to.have.length(2);
      const counted = await api.send('GET', list, 'started_after=1h&count=true&limit=1');
      expect(counted.headers.get('x-total-count')).to.equal('2');
    });

    it(`GET /${list} refuses what is no time`, async () => {
      const detail = 'must be an ISO 8601 time, a Unix time in seconds or milliseconds, or a time ago such as 1h or 7d';
      for (const text of ['1y', '-1h', '1.5h', 'h', '999999999w', '1h30m'])
        expect(await api.refused('GET', list, [['started_after', text]]), text).to.deep.equal({
          '?started_after': detail,
        });
    });
  }
});
