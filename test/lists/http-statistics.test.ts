import { expect } from 'chai';
import { CheckedApi, definitions, each, listNames, span, uuid, type Query, type Row } from '../harness/checked-api.js';
import { storeSample } from './sample.js';
import { expectRecounted, grouped, withExactCosts } from './statistics-recount.js';

const MOST = { spans: 10_000, traces: 500, sessions: 500 };

describe('Statistics and facets', () => {
  let api: CheckedApi;
  before(async () => {
    api = await CheckedApi.boot();
    await storeSample(api);
    const now = Date.now();
    await api.post(
      'spans',
      Array.from({ length: 24 }, (_, index) =>
        span(5000 + index, {
          name: `step ${index % 12}`,
          started_at: new Date(now - index * 3600_000).toISOString(),
          duration_ms: index,
          tags: { run: 'many', ...(index % 2 === 0 && { Half: `v${index}` }) },
          ...(index === 0 && {
            kind: 'llm',
            attributes: { provider: 'openai', model: 'gpt-4o', inputTokens: 10, outputTokens: 5 },
          }),
        }),
      ),
    );
  });
  after(() => api.dispose());

  const answer = async (path: string): Promise<any> => {
    const response = await api.send('GET', path as 'spans', '');
    expect(response.status, `${path}: ${response.text.slice(0, 300)}`).to.equal(200);
    return withExactCosts(response.text);
  };
  const refused = (path: string, query: Query) => api.refused('GET', path as 'spans', query);

  for (const list of listNames) {
    const rows = (query: string) => answer(`${list}?limit=${MOST[list]}&${query}`) as Promise<Row[]>;

    it(`GET /${list}:stats equals a recount of the list`, async () => {
      for (const query of [
        '',
        'has_error=true',
        'cost_min=0.001',
        'names=nobody',
        'started_after=2d',
        'run=many',
        'q=refund',
      ])
        expectRecounted(await answer(`${list}:stats?${query}`), await rows(query));
    });

    it(`GET /${list}:stats groups by every field, shows the eight largest and sums up the rest`, async () => {
      const all = await rows('');
      for (const field of definitions[list].groups)
        expectRecounted(await answer(`${list}:stats?group_by=${field}`), all, (row) => [row[field]]);
      const { groups, rest } = await answer(`${list}:stats?group_by=tags.Half&run=many`);
      if (list === 'sessions') return;
      expect(groups[0].value).to.equal(null);
      expect([groups.length, rest.totals.count]).to.deep.equal([8, 5]);
    });

    it(`GET /${list}:stats computes the measures that are asked for`, async () => {
      const { totals } = await answer(`${list}:stats?measures=errors,duration`);
      expect(totals).to.have.all.keys('error_count', 'duration_ms');
      expect((await answer(`${list}:stats?measures=count`)).totals).to.have.all.keys('count');
    });

    it(`GET /${list}:facets counts the values of every field, and the keys of tags`, async () => {
      const all = await rows('started_after=0');
      for (const field of definitions[list].groups) {
        const { values, total } = await answer(`${list}:facets?started_after=0&limit=200&field=${field}`);
        const expected = grouped(all, (row) => (row[field] === null ? [] : [row[field]]));
        expect(values).to.deep.equal(expected.map(({ value, members }) => ({ value, count: members.length })));
        expect(total).to.equal(expected.length);
      }
    });

    it(`GET /${list}:facets looks at the last seven days, unless bounded`, async () => {
      const { from, to, values, field } = await answer(`${list}:facets?field=name&limit=1`);
      expect(Date.parse(from)).to.be.closeTo(Date.now() - 7 * 86_400_000, 60_000);
      expect([to, field]).to.deep.equal([null, 'name']);
      expect(values).to.have.length(list === 'sessions' ? 0 : 1);
      expect((await answer(`${list}:facets?field=name&id=${uuid(1)}`)).from).to.equal(null);
      expect((await answer(`${list}:facets?field=name&created_after=1d`)).from).to.equal(null);
      const bounded = await answer(`${list}:facets?field=name&started_after=2026-01-31&started_before=2026-02-01`);
      expect([bounded.from, bounded.to]).to.deep.equal(['2026-01-31T00:00:00.000000Z', '2026-02-01T00:00:00.000000Z']);
    });

    it(`refuses what is wrong with a query of /${list}, and names it`, async () => {
      const bad: Record<string, readonly string[]> = {
        measures: ['', 'x', 'count,x', 'COUNT'],
        bucket: ['', '0', '-1', '1.5', '1y', '1h30m', '99999999999', '999999999w', '١', 'null'],
        time_zone: ['', 'Mars/Olympus', '+01:00', "UTC'", 'x'.repeat(100)],
        group_by: [
          '',
          'x',
          'id',
          'started_at',
          'attributes',
          'tags',
          'tag.x',
          '__proto__',
          `tags.${'x'.repeat(10_001)}`,
        ],
        has_error: ['maybe'],
        limit: ['5'],
        sort_by: ['cost'],
        count: ['true'],
        fields: ['id'],
      };
      await each(Object.entries(bad), async ([name, texts]) => {
        for (const text of texts)
          expect(await refused(`${list}:stats`, [[name, text]]), `${name}=${text}`).to.have.keys(`?${name}`);
      });
      for (const text of ['', 'x', 'id', 'tags ', 'input_data'])
        expect(await refused(`${list}:facets`, [['field', text]]), text).to.have.keys('?field');
      expect(await refused(`${list}:facets`, '')).to.deep.equal({ '?field': 'is required' });
      expect(await refused(`${list}:facets`, 'field=name&limit=201&prefix=' + 'x'.repeat(1001))).to.have.keys(
        '?limit',
        '?prefix',
      );
      expect(await refused(`${list}:facets`, 'field=name&offset=1')).to.have.keys('?offset');
      const many = 'started_after=2026-01-01&started_before=2026-03-01&bucket=1m';
      expect(await refused(`${list}:stats`, many)).to.deep.equal({
        '?bucket': 'must be longer: this would create more than 1000 buckets',
      });
    });
  }

  it('buckets are without gaps, between the bounds that were given', async () => {
    const bounds = 'started_after=2026-01-31T09:00:00Z&started_before=2026-01-31T11:00:00Z';
    const { from, to, buckets, bucket_seconds, totals } = await answer(`spans:stats?${bounds}&bucket=30m`);
    expect([from, to, bucket_seconds]).to.deep.equal([
      '2026-01-31T09:00:00.000000Z',
      '2026-01-31T11:00:00.000000Z',
      1800,
    ]);
    expect(buckets.map(({ count }: Row) => count)).to.deep.equal([0, 0, totals.count, 0, 0]);
    expect(buckets[0]).to.deep.include({ error_count: 0, cost: '0', duration_ms: { p50: null, p95: null, p99: null } });
  });

  it('buckets of days follow the time zone', async () => {
    const bounds = 'started_after=2026-10-24T12:00:00Z&started_before=2026-10-26T12:00:00Z&bucket=1d';
    const { buckets } = await answer(`traces:stats?${bounds}&time_zone=Europe/Berlin`);
    expect(buckets.map(({ start }: Row) => start)).to.deep.equal([
      '2026-10-23T22:00:00.000000Z',
      '2026-10-24T22:00:00.000000Z',
      '2026-10-25T23:00:00.000000Z',
    ]);
  });

  it('nothing found is no time and no bucket', async () => {
    expect(await answer('spans:stats?names=nobody&measures=count')).to.deep.equal({
      ...{ from: null, to: null, bucket_seconds: null, totals: { count: 0 }, buckets: [], groups: [], rest: null },
    });
    const crossed = 'started_after=2026-02-01&started_before=2026-01-01';
    expect((await answer(`traces:stats?${crossed}&group_by=name`)).buckets).to.deep.equal([]);
  });

  it('sessions that have no start are in the totals alone', async () => {
    const { totals, buckets } = await answer('sessions:stats?measures=count&bucket=1d&started_before=2026-03-01');
    const all = await answer('sessions:stats?measures=count&bucket=90d');
    const inBuckets = (some: Row[]) => some.reduce((sum, { count }) => sum + Number(count), 0);
    expect(inBuckets(buckets)).to.equal(totals.count);
    expect(inBuckets(all.buckets)).to.be.lessThan(all.totals.count);
  });

  it('facets have prefixes, limits and totals', async () => {
    const first = await answer('spans:facets?field=tags.Half&prefix=V2&limit=1');
    expect([first.values, first.total, first.field]).to.deep.equal([[{ value: 'v2', count: 1 }], 3, 'tags.Half']);
    const keys = await answer('traces:facets?field=tags&prefix=h&run=many');
    expect(keys.values).to.deep.equal([{ value: 'Half', count: 12 }]);
    expect((await answer('spans:facets?field=model')).values).to.deep.equal([{ value: 'gpt-4o', count: 1 }]);
  });

  it('values that no URL has room for are counted, and not answered', async () => {
    const codes = [
      'short',
      'é'.repeat(2048),
      'é'.repeat(2049),
      ...Array.from({ length: 8 }, (_, at) => `${at}`.repeat(400_000)),
    ];
    for (const [at, error_code] of codes.entries())
      await api.post('spans', [
        span(8000 + at, { error_code, tags: { run: 'long', long: error_code.slice(0, 200_000) } }),
      ]);
    const [short, longest] = codes;
    for (const property of ['error_code', 'tags.long']) {
      const facets = await answer(`spans:facets?run=long&started_after=0&field=${property}`);
      expect(facets).to.include({ total: 11 });
      expect(facets.values).to.deep.equal([short, longest].map((value) => ({ value, count: 1 })));
      for (const list of ['spans', 'traces']) {
        if (list === 'traces' && property === 'error_code') continue;
        const { totals, groups, rest } = await answer(`${list}:stats?run=long&group_by=${property}`);
        const counts = groups.map(({ value, totals: { count } }: Row) => [value, count]);
        expect(counts).to.deep.equal([short, longest].map((value) => [value, 1]));
        expect(rest.totals.count).to.equal(totals.count - 2);
      }
    }
  });

  it('tokens are summed by class', async () => {
    const { groups } = await answer('spans:stats?group_by=model&measures=tokens&run=many');
    expect(groups.map(({ value, totals }: Row) => [value, totals.tokens.input, totals.tokens.output])).to.deep.equal([
      [null, null, null],
      ['gpt-4o', 10, 5],
    ]);
  });

  it('an empty and a hostile key of a tag are keys like others', async () => {
    const id = uuid(7000);
    const hostile = "'; DROP TABLE spans; --\\";
    await api.post('spans', [span(7000, { id, tags: { '': 'empty', [hostile]: '"cost":"1"' } })]);
    const values = async (key: string) =>
      (await answer(`spans:facets?id=${id}&field=${encodeURIComponent(`tags.${key}`)}`)).values;
    expect(await values('')).to.deep.equal([{ value: 'empty', count: 1 }]);
    expect(await values(hostile)).to.deep.equal([{ value: '"cost":"1"', count: 1 }]);
    const { groups } = await answer(`spans:stats?id=${id}&group_by=${encodeURIComponent(`tags.${hostile}`)}`);
    expect(groups.map(({ value }: Row) => value)).to.deep.equal(['"cost":"1"']);
  });

  it('tags are named in the header, as in the lists', async () => {
    const { headers } = await api.send('GET', 'spans:stats' as 'spans', 'run=many');
    expect(headers.get('x-tag-filters')).to.equal('run');
  });
});
