import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import { ByteWriter, parquetWrite, type ColumnSource } from 'hyparquet-writer';
import { writeParquet } from '../../src/features/datasets/files/parquet.js';
import { datasetApi, type DatasetApi } from './dataset-api.js';

const TYPES = { csv: 'text/csv', jsonl: 'application/x-ndjson', parquet: 'application/vnd.apache.parquet' } as const;

describe('files of datasets', () => {
  let api: DatasetApi;
  let count = 0;
  let name: string;

  before(async () => {
    // A server of its own: what it reads is large.
    api = await datasetApi({});
  });
  after(() => api?.dispose());

  beforeEach(async () => {
    name = `files/${++count}`;
    await api.ok('POST', '', { name });
  });

  const upload = (format: keyof typeof TYPES, body: string | Buffer, query = '') =>
    api.call('POST', `/${name}/versions${query}`, body, { 'content-type': TYPES[format] });
  const download = async (format: string) => {
    const { url, key } = api.server;
    const response = await fetch(`${url}/v1/datasets/${name}/download?format=${format}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  };

  it('of CSV keep texts with quotes, line breaks and empty cells', async () => {
    const csv = '\ufeffid,text,empty\r\n1,"a ""quoted"", text\nin two lines",\r\n2,é,\r\n';
    expect((await upload('csv', csv, '?message=from%20csv')).json).to.include({ row_count: 2, message: 'from csv' });
    const rows = [
      { row_id: '1', id: '1', text: 'a "quoted", text\nin two lines', empty: '' },
      { row_id: '2', id: '2', text: 'é', empty: '' },
    ];
    expect(await api.rows(name)).to.deep.equal(rows);
    // What is downloaded can be uploaded again, and is the same.
    expect((await upload('csv', await download('csv'))).json.version_number).to.equal(1);
  });

  it('of JSON lines and JSON hold any value, and come back as they were', async () => {
    const rows = [{ row_id: 'a', q: { deep: [1, null] } }, { row_id: 'b', q: 'text' }, { row_id: 'c' }];
    await upload('jsonl', rows.map((row) => JSON.stringify(row)).join('\n\n'));
    expect(await api.rows(name)).to.deep.equal(rows);
    expect(JSON.parse((await download('json')).toString())).to.deep.equal(rows);
    const lines = (await download('jsonl')).toString().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal(rows);
    expect((await upload('jsonl', lines.join('\n'))).json.version_number).to.equal(1);
  });

  it('of Parquet hold numbers, texts and truth, and what else they have as JSON', async () => {
    const rows = [
      { row_id: 'a', n: 1.5, ok: true, text: 'x', mixed: 1 },
      { row_id: 'b', n: null, ok: false, text: 'é', mixed: 'two' },
    ];
    const file = await writeParquet(['row_id', 'n', 'ok', 'text', 'mixed'], rows);
    expect((await upload('parquet', file)).json).to.include({ row_count: 2 });
    const stored = await api.rows(name);
    expect(stored[0]).to.deep.equal({ ...rows[0], mixed: '1' });
    const read = await parquetReadObjects({ file: (await download('parquet')).buffer.slice(0) });
    expect(read).to.deep.equal(stored);
  });

  it('of Parquet may have integers, times and bytes of any kind', async () => {
    const columns: ColumnSource[] = [
      { name: 'id', data: [9007199254740993n, 2n], type: 'INT64' },
      { name: 'at', data: [new Date('2026-01-15T10:00:00Z'), new Date('2026-01-16T10:00:00Z')], type: 'TIMESTAMP' },
      { name: 'json', data: [{ a: [1] }, { a: [] }], type: 'JSON' },
    ];
    const writer = new ByteWriter();
    await parquetWrite({ writer, columnData: columns });
    expect((await upload('parquet', Buffer.from(writer.getBytes()))).status).to.equal(200);
    expect(await api.rows(name)).to.deep.equal([
      { row_id: '9007199254740993', id: '9007199254740993', at: '2026-01-15T10:00:00.000Z', json: { a: [1] } },
      { row_id: '2', id: 2, at: '2026-01-16T10:00:00.000Z', json: { a: [] } },
    ]);
  });

  it('that cannot be read are refused, and change nothing', async () => {
    await api.ok('POST', `/${name}/versions`, { rows: [{ id: 'stays' }] });
    const file = await writeParquet(['row_id'], [{ row_id: 'a' }]);
    const broken: [keyof typeof TYPES, string | Buffer, number][] = [
      ['csv', 'a,b\n1,2,3\n', 400],
      ['csv', 'a,b\n"1,2\n', 400],
      ['jsonl', '{"a":1}\n{"a":', 400],
      ['jsonl', '[1]\n', 422],
      ['jsonl', `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`, 400],
      ['parquet', 'PAR1 nothing PAR1', 400],
      ['parquet', file.subarray(0, file.length - 20), 400],
      ['parquet', Buffer.concat([file.subarray(0, 20), Buffer.alloc(30, 0xff), file.subarray(50)]), 400],
    ];
    for (const [format, body, status] of broken) {
      const response = await upload(format, body);
      expect(response.status, `${format} ${body.toString('latin1').slice(0, 30)}: ${response.text}`).to.equal(status);
    }
    expect((await api.call('POST', `/${name}/versions`, 'x', { 'content-type': 'text/plain' })).status).to.equal(415);
    expect(await api.rows(name)).to.deep.equal([{ row_id: 'stays', id: 'stays' }]);
  });

  it('that unpack to too much are refused, and others are read meanwhile', async () => {
    const line = `{"text":"${'x'.repeat(1_000_000)}"}\n`;
    const body = gzipSync(Buffer.from(line.repeat(300)));
    const bomb = api.call('POST', `/${name}/versions`, body, {
      'content-type': TYPES.jsonl,
      'content-encoding': 'gzip',
    });
    await api.ok('POST', '', { name: `${name}/other` });
    expect((await bomb).status).to.equal(413);
    expect((await api.call('GET', `/${name}/data`)).status).to.equal(404);
  });

  it('come as the Python SDK sends them', async () => {
    const file = await writeParquet(['q'], [{ q: 'one' }, { q: 'two' }]);
    const version = await api.ok('POST', `/${api.server.projectId}/${name}/versions`, {
      message: 'Upload data via SDK',
      files: [{ path: 'data/default.parquet', content_base64: file.toString('base64'), size_bytes: file.length }],
    });
    expect(version).to.include({ version_number: 1, row_count: 2 });
    const { rows, total_rows } = await api.ok(
      'GET',
      `/${api.server.projectId}/${name}/data/main?subset=default&limit=10000&offset=0`,
    );
    expect(total_rows).to.equal(2);
    expect(rows[0]).to.have.all.keys('row_id', 'q');
    const other = { files: [{ path: 'data/x.exe', content_base64: '' }] };
    expect((await api.call('POST', `/${name}/versions`, other)).json.errors[0].pointer).to.equal('/files/0/path');
  });
});
