import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CheckedApi, span, uuid, type ListName, type Row } from '../harness/checked-api.js';
import { attributes, otlpSpan, request } from '../otlp/requests.js';
import { TailClient } from '../harness/tail-client.js';

const EXPERIMENT = uuid(700);
const OTHER = uuid(701);
const SESSION = uuid(800);
const traceOf = (number: number) => uuid(1_000_000 + number);
const marked = (id: string, more: Row = {}) => ({ attributes: { spanhouse: { experiment: { id, ...more } } } });

describe('spans of experiments in lists', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await api.post('spans', [
      span(1, { cost: 1, input_data: 'a refund' }),
      // A result beside a step of what was tried.
      span(2, { cost: 10, ...marked(EXPERIMENT, { row_id: 'a' }), input_data: 'a refund' }),
      span(3, { cost: 100, trace_id: traceOf(2), tags: { tier: 'trial' } }),
      // One that was made in a trace of its own.
      span(4, { cost: 1000, ...marked(OTHER, { row_id: 'a', trace_id: traceOf(5) }), session_id: SESSION }),
      span(5, { cost: 10_000, session_id: SESSION }),
      span(6, { cost: 2, session_id: SESSION }),
    ]);
  });
  after(() => api?.dispose());

  const found = async (list: ListName, query: string) => (await api.ids(list, query)).sort();
  const named = (list: ListName, ...numbers: number[]) => numbers.map(list === 'spans' ? uuid : traceOf).sort();
  const ask = async (path: string) => {
    const { status, json } = await api.server.request('GET', path, { key: api.server.key });
    expect(status, JSON.stringify(json)).to.equal(200);
    return json as Row;
  };

  /** By spans; of traces, which a few have in common. */
  const of = (list: ListName, spans: number[], traces: number[]) =>
    list === 'spans' ? named(list, ...spans) : named(list, ...traces);

  for (const list of ['spans', 'traces'] as const) {
    it(`GET /${list} leaves them out, with all else in their traces and where they were made`, async () => {
      for (const query of ['', 'sort_by=cost', 'started_after=2026-01-01', 'experiments=false'])
        expect(await found(list, query), query).to.deep.equal(of(list, [1, 6], [1, 6]));
      expect(await found(list, 'q=refund')).to.deep.equal(of(list, [1], [1]));
      expect(await found(list, 'tier=trial')).to.deep.equal([]);
      const counted = await api.send('GET', list, 'count=true&limit=1');
      expect(counted.headers.get('x-total-count')).to.equal('2');
    });

    it(`GET /${list} lists them too, or alone, or of one experiment`, async () => {
      const all = of(list, [1, 2, 3, 4, 5, 6], [1, 2, 4, 5, 6]);
      expect(await found(list, 'experiments=true')).to.deep.equal(all);
      expect(await found(list, 'experiments=only')).to.deep.equal(of(list, [2, 3, 4, 5], [2, 4, 5]));
      expect(await found(list, 'experiments=only&q=refund')).to.deep.equal(of(list, [2], [2]));
      expect(await found(list, `experiment_id=${EXPERIMENT}`)).to.deep.equal(of(list, [2], [2]));
      expect(await found(list, `experiment_id=${OTHER.toUpperCase()}`)).to.deep.equal(of(list, [4], [4, 5]));
      expect(await found(list, `experiment_id=${OTHER}&started_after=2026-01-01`)).to.deep.equal(of(list, [4], [4, 5]));
      expect(await found(list, `experiment_id=${OTHER}&experiments=false`)).to.deep.equal([]);
      expect(await found(list, `experiment_id=${uuid(1)}`)).to.deep.equal([]);
      expect(await api.refused('GET', list, 'experiments=all&experiment_id=x')).to.have.keys(
        '?experiments',
        '?experiment_id',
      );
    });

    it(`GET /${list} answers what is asked for by id`, async () => {
      const [id = ''] = of(list, [2], [2]);
      expect(await found(list, `id=${id}`)).to.deep.equal([id]);
      expect(await found(list, `id=${id}&experiments=false`)).to.deep.equal([]);
      expect(await found(list, `session_id=${SESSION}`)).to.deep.equal(of(list, [4, 5, 6], [4, 5, 6]));
      expect(await found(list, `session_id=${SESSION}&experiments=false`)).to.deep.equal(of(list, [6], [6]));
    });

    it(`GET /${list}:stats and :facets count as the list does`, async () => {
      const sums = {
        '': 3,
        'experiments=true': 11_113,
        'experiments=only': 11_110,
        [`experiment_id=${EXPERIMENT}`]: 0,
      };
      sums[`experiment_id=${EXPERIMENT}`] = list === 'spans' ? 10 : 110;
      for (const [query, cost] of Object.entries(sums))
        expect((await ask(`/${list}:stats?measures=cost&${query}`)).totals.cost, query).to.equal(cost);
      const values = async (query: string) =>
        (await ask(`/${list}:facets?field=name&started_after=0&${query}`)).values.map(({ value }: Row) => value).sort();
      expect(await values('')).to.deep.equal(['span 1', 'span 6']);
      expect(await values('experiments=only'))
        .to.include('span 2')
        .and.not.include('span 1');
    });
  }

  it('count in their sessions, which stay listed', async () => {
    expect(await api.one('sessions', SESSION)).to.include({ trace_count: 3, cost: 11_002 });
    expect(await api.refused('GET', 'sessions', 'experiments=true')).to.have.keys('?experiments');
  });

  it('come and go with what their spans say, in lists that nothing was rolled up for', async () => {
    const plain = span(20);
    const names = async () => [await found('spans', 'names=span 20'), await found('traces', 'names=span 20')];
    await api.post('spans', [plain]);
    const listed = [[uuid(20)], [traceOf(20)]];
    expect(await names()).to.deep.equal(listed);
    await api.post('spans', [{ ...plain, ...marked(EXPERIMENT) }]);
    expect(await names()).to.deep.equal([[], []]);
    await api.post('spans', [plain]);
    expect(await names()).to.deep.equal(listed);
    // A result that was made there is stored elsewhere, and deleted again.
    await api.post('spans', [span(21, marked(EXPERIMENT, { row_id: 'b', trace_id: traceOf(20) }))]);
    expect(await names()).to.deep.equal([[], []]);
    expect(await found('spans', `trace_id=${traceOf(20)}&experiments=false`)).to.deep.equal([]);
    const gone = await api.server.request('DELETE', `/spans/${uuid(21)}`, { key: api.server.key });
    expect(gone.status).to.be.oneOf([200, 202, 204]);
    expect(await names()).to.deep.equal(listed);
  });

  it('hide nothing behind them where the newest of all are theirs', async () => {
    const tried = (index: number) =>
      span(10_000 + index, { ...marked(OTHER, { row_id: `row ${index}` }), started_at: '2026-03-01T00:00:00Z' });
    await api.post(
      'spans',
      Array.from({ length: 700 }, (_, index) => tried(index)),
    );
    for (const list of ['spans', 'traces'] as const) {
      const found = await api.ids(list, 'limit=2');
      expect(found).to.have.length(2);
      expect(named(list, 1, 6, 20)).to.include.members(found);
    }
  });

  it('are marked by OpenTelemetry, too', async () => {
    const traceId = randomUUID().replaceAll('-', '');
    const id = randomUUID();
    const said = attributes({ 'spanhouse.experiment.id': id, 'spanhouse.experiment.repetition': 2 });
    const body = request([otlpSpan({ traceId, attributes: said })]);
    const { status } = await api.server.request('POST', '/v1/traces', { key: api.server.key, body });
    expect(status).to.equal(200);
    expect(await api.ids('spans', `experiment_id=${id}`)).to.have.length(1);
  });

  it('are told by no tail that does not ask for them', async () => {
    const tails = await Promise.all(
      ['spans:tail', 'traces:tail', 'spans:tail?experiments=only', 'traces:tail?experiments=true'].map((path) =>
        TailClient.open(api.server, `/${path}`),
      ),
    );
    await api.post('spans', [span(30, marked(EXPERIMENT)), span(31)]);
    const told = (number: number) => tails[number]?.rows.map(({ id }) => id as string) ?? [];
    const counts = [1, 1, 1, 2];
    for (const [index, tail] of tails.entries()) await tail.until(() => tail.rows.length >= (counts[index] ?? 0));
    expect([told(0), told(1), told(2)]).to.deep.equal([[uuid(31)], [traceOf(31)], [uuid(30)]]);
    expect(told(3).sort()).to.deep.equal([traceOf(30), traceOf(31)]);
    for (const tail of tails) tail.close();
  });
});
