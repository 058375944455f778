import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type ClickHouseSettings } from '@clickhouse/client';
import { expect } from 'chai';
import fc from 'fast-check';
import { searchParams } from '../../src/engine/traces/clickhouse/client/request-url.js';

const QUERY = 'INSERT INTO a FORMAT RowBinary';

describe('URL of a request to the embedded engine', () => {
  let sent = '';
  const server = createServer((request, response) => {
    sent = request.url ?? '';
    request.resume().once('end', () => response.end());
  });
  const library = async (query_params: Record<string, unknown>, clickhouse_settings: ClickHouseSettings) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ url, database: 'house' });
    await client.command({ query: QUERY, query_params, clickhouse_settings });
    await client.close();
    const { searchParams: found } = new URL(sent, url);
    found.delete('query_id');
    return found;
  };
  const written = (search: URLSearchParams) => [...search].map(([name, value]) => `${name}=${value}`).sort();
  const same = async (params: Record<string, unknown>, settings: ClickHouseSettings = {}) => {
    const ours = searchParams({ database: 'house', query_params: params, clickhouse_settings: settings });
    expect(written(ours)).to.deep.equal(written(await library(params, settings)));
  };

  before((done) => void server.listen(0, '127.0.0.1', done));
  after((done) => void server.close(done));

  it('is what the library writes, of values of every type', async () => {
    await same({
      text: "it's\t\\ \n\r\0 漢字 &=+%",
      none: null,
      yes: true,
      amounts: [-0.1, 1e-12, 1e300, Infinity, -Infinity, NaN],
      whole: 18446744073709,
      texts: ["a'b", '\\', ''],
      nested: [['x', null], [true]],
      map: { "k'": 'v\\', n: null },
      empty: [],
    });
    for (const alone of [Infinity, -Infinity, NaN]) await same({ alone });
  });

  it('is what the library writes, of any texts', async () => {
    const text = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), (one, many) => same({ one, many })),
      { numRuns: 50 },
    );
  });

  it('is what the library writes, of settings', async () => {
    await same({}, { max_threads: 1, async_insert: 1, log_comment: "it's & more", max_result_bytes: '12' });
  });

  it('has the statement of data that follow', () => {
    const search = searchParams({ database: 'house', query: QUERY });
    expect(written(search)).to.deep.equal(['database=house', `query=${QUERY}`]);
  });

  it('takes no value that it cannot write', () => {
    const of = (value: unknown) => () => searchParams({ database: 'house', query_params: { value } });
    for (const value of [undefined, () => 1, Symbol('s')]) expect(of(value)).to.throw('cannot be sent');
  });
});
