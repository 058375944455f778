import { expect } from 'chai';
import { datasetApi, type DatasetApi } from './dataset-api.js';

describe('a version of a dataset with as many rows as it may have', function () {
  this.timeout(120_000);
  let api: DatasetApi;

  before(async () => {
    // A server of its own, which has much to do.
    api = await datasetApi({});
    await api.ok('POST', '', { name: 'large' });
  });
  after(() => api?.dispose());

  const upload = (rows: unknown[]) => api.ok('POST', '/large/versions', { rows });

  it('holds 100,000 rows, page by page, and no more', async () => {
    const rows = Array.from({ length: 100_000 }, (_, index) => ({ id: index, q: `question ${index}` }));
    expect(await upload(rows)).to.include({ row_count: 100_000, added: 100_000 });
    const page = await api.ok('GET', '/large/data/latest?limit=10000&offset=99990');
    expect(page.total_rows).to.equal(100_000);
    expect(page.rows.map(({ id }: { id: number }) => id)).to.deep.equal(rows.slice(99_990).map(({ id }) => id));
    const more = await api.call('POST', '/large/versions', { mode: 'merge', rows: [{ id: 'one more' }] });
    expect(more.status).to.equal(413);
    expect(await upload(rows.slice(1).map((row) => ({ ...row, q: 'same' })))).to.include({
      changed: 99_999,
      removed: 1,
    });
  });
});
