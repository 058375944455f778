import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { DatasetVersion, NewRow } from '../../src/features/datasets/dataset.js';
import { contentHash } from '../../src/features/datasets/files/row-set.js';
import { SqliteDatasetStore } from '../../src/features/datasets/store/dataset-store.js';
import { SqliteRowStaging } from '../../src/features/datasets/store/row-staging.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { datasetApi, type DatasetApi } from './dataset-api.js';

describe('versions of datasets', () => {
  let api: DatasetApi;
  let count = 0;
  let name: string;

  before(async () => {
    // A server of its own: what it reads is large.
    api = await datasetApi({});
  });
  after(() => api?.dispose());

  beforeEach(async () => {
    name = `folder/set ${++count}`;
    await api.ok('POST', '', { name });
  });

  const upload = (rows: unknown[], more: object = {}) => api.ok('POST', `/${name}/versions`, { rows, ...more });
  const ids = async (ref?: string) => (await api.rows(name, ref)).map(({ row_id }) => row_id);

  it('are numbered, keep their rows, and say how they differ', async () => {
    const first = await upload([
      { id: 'a', q: 1 },
      { id: 'b', q: 2 },
      { id: 'c', q: 3 },
    ]);
    expect(first).to.include({ version_number: 1, row_count: 3, added: 3, changed: 0, removed: 0 });
    expect(first.columns).to.deep.equal(['id', 'q']);
    const second = await upload(
      [
        { id: 'a', q: 1 },
        { id: 'b', q: 20 },
        { id: 'd', q: 4 },
      ],
      { message: 'edited' },
    );
    expect(second).to.include({ version_number: 2, row_count: 3, added: 1, changed: 1, removed: 1, message: 'edited' });
    expect(await api.rows(name, '1')).to.deep.equal([
      { row_id: 'a', id: 'a', q: 1 },
      { row_id: 'b', id: 'b', q: 2 },
      { row_id: 'c', id: 'c', q: 3 },
    ]);
    expect(await ids('2')).to.deep.equal(['a', 'b', 'd']);
    const diff = await api.ok('GET', `/${name}/diff?from=1&to=2`);
    expect(diff).to.include({ from: 1, to: 2, added: 1, changed: 1, removed: 1 });
    expect(diff.rows).to.deep.equal([
      { row_id: 'b', change: 'changed', before: { id: 'b', q: 2 }, after: { id: 'b', q: 20 } },
      { row_id: 'c', change: 'removed', before: { id: 'c', q: 3 }, after: null },
      { row_id: 'd', change: 'added', before: null, after: { id: 'd', q: 4 } },
    ]);
    const back = await api.ok('GET', `/${name}/diff?from=2&to=1`);
    expect(back).to.include({ added: 1, changed: 1, removed: 1 });
    expect(back.rows.map(({ change }: { change: string }) => change)).to.deep.equal(['changed', 'added', 'removed']);
  });

  it('count no row as changed that says again what it did before an open version', async () => {
    const first = await upload(['a', 'b', 'c'].map((id) => ({ id, q: 1 })));
    const row = (row_id: string, q: number) => {
      const content = JSON.stringify({ id: row_id, q });
      return { row_id, content, bytes: content.length, hash: contentHash({ id: row_id, q }) };
    };
    withDatabase(api.server, (db) => {
      const [datasets, staging] = [new SqliteDatasetStore(db), new SqliteRowStaging(db)];
      const { id } = datasets.find(api.server.projectId, { name }) ?? { id: '' };
      const known = datasets.version(id, { number: first.version_number });
      if (known === undefined) throw new Error('no version');
      const draft = { ...known, id: randomUUID(), number: known.number + 1, added: 0, changed: 0, removed: 0 };
      const counts: (readonly number[])[] = [];
      const put = (version: DatasetVersion, rows: NewRow[], isOpen = true): DatasetVersion => {
        const made = staging.put(version, rows, isOpen) ?? version;
        counts.push([made.row_count, made.added, made.changed]);
        return made;
      };
      const open = put(draft, [row('a', 2), row('b', 2), row('d', 1)], false);
      put(put(put(open, [row('a', 1), row('d', 2)]), [row('a', 3)]), [row('a', 1), row('b', 3), row('c', 1)]);
      expect(counts).to.deep.equal([
        [4, 1, 2],
        [4, 1, 1],
        [4, 1, 2],
        [4, 1, 1],
      ]);
      staging.put(open, [{ ...row('c', 1), source: { trace_id: randomUUID(), span_id: randomUUID() } }], true);
      expect(datasets.version(id, { number: 2 })?.changed).to.equal(open.changed);
    });
    const diff = await api.ok('GET', `/${name}/diff?from=1&to=2`);
    expect(diff).to.include({ added: 1, changed: 1, removed: 0 });
  });

  it('are not made where nothing changes, whatever the order of members', async () => {
    const first = await upload([{ id: 'a', q: { x: 1, y: 2 } }]);
    const again = await upload([{ q: { y: 2, x: 1 }, id: 'a' }]);
    expect(again.id).to.equal(first.id);
    expect(await api.ok('GET', `/${name}/versions`)).to.have.length(1);
  });

  it('know rows without ids by what they say, and equal ones apart', async () => {
    await upload([{ q: 'x' }, { q: 'y' }, { q: 'x' }]);
    const before = await ids();
    expect(new Set(before).size).to.equal(3);
    await upload([{ q: 'new' }, { q: 'x' }, { q: 'x' }, { q: 'y' }]);
    const after = await ids();
    expect(after.slice(1)).to.deep.equal([before[0], before[2], before[1]]);
    // What was read can be sent back.
    const same = await upload(await api.rows(name));
    expect(same.version_number).to.equal(2);
  });

  it('keep the order that rows were sent in', async () => {
    await upload(['a', 'b', 'c', 'd'].map((id) => ({ id })));
    const moved = await upload(['d', 'b', 'new', 'c', 'a'].map((id) => ({ id })));
    expect(moved).to.include({ added: 1, changed: 0, removed: 0 });
    expect(await ids()).to.deep.equal(['d', 'b', 'new', 'c', 'a']);
    expect(await ids('1')).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('merge: change some rows where they are, add others at the end, remove others', async () => {
    await upload([
      { id: 'a', q: 1 },
      { id: 'b', q: 2 },
      { id: 'c', q: 3 },
    ]);
    const merged = await upload(
      [
        { id: 'b', q: 20 },
        { id: 'z', extra: true },
        { id: 'a', q: 1 },
      ],
      {
        mode: 'merge',
        remove: ['c', 'unknown'],
      },
    );
    expect(merged).to.include({ row_count: 3, added: 1, changed: 1, removed: 1 });
    expect(merged.columns).to.deep.equal(['id', 'q', 'extra']);
    expect(await api.rows(name)).to.deep.equal([
      { row_id: 'a', id: 'a', q: 1 },
      { row_id: 'b', id: 'b', q: 20 },
      { row_id: 'z', id: 'z', extra: true },
    ]);
    // A row that was removed may come back.
    await upload([{ id: 'c', q: 3 }], { mode: 'merge' });
    expect(await ids()).to.deep.equal(['a', 'b', 'z', 'c']);
  });

  it('refuse rows that are none, ids that come twice, and a base that is not the newest', async () => {
    await upload([{ id: 'a' }]);
    const refused = async (body: unknown) => (await api.call('POST', `/${name}/versions`, body)).json;
    expect(
      (await refused({ rows: [1, { id: 'x' }, { id: 'x' }] })).errors.map(({ pointer }: any) => pointer),
    ).to.deep.equal(['/rows/0']);
    const twice = await refused({ rows: [{ id: 'x' }, { row_id: 'x' }] });
    expect(twice.errors[0]).to.deep.include({ pointer: '/rows/1/row_id' });
    const stale = await api.call('POST', `/${name}/versions`, { rows: [], base_version: 0 });
    expect(stale.status).to.equal(409);
    const both = await refused({ mode: 'merge', rows: [{ id: 'x' }], remove: ['x'] });
    expect(both.errors[0].pointer).to.equal('/remove/0');
    expect((await refused({ rows: [], remove: ['a'] })).errors[0].pointer).to.equal('/remove');
    expect(await ids()).to.deep.equal(['a']);
  });

  it('are made one after the other, however many ask at once', async () => {
    const merges = Array.from({ length: 8 }, (_, index) => upload([{ id: `row ${index}` }], { mode: 'merge' }));
    const numbers = (await Promise.all(merges)).map(({ version_number }) => version_number as number);
    expect(numbers.sort((a, b) => a - b)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await ids()).to.have.length(8);
  });

  it('answers short pages of large rows, which can be read to the end', async () => {
    await upload(Array.from({ length: 24 }, (_, id) => ({ id, text: 'x'.repeat(900_000) })));
    const sizes: number[] = [];
    for (let offset = 0; ;) {
      const { rows, total_rows } = await api.ok('GET', `/${name}/data/latest?limit=10000&offset=${offset}`);
      sizes.push(rows.length);
      offset += (rows as unknown[]).length;
      if (offset >= total_rows) break;
    }
    expect(sizes.length).to.be.greaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(24);
  });
});
