import { expect } from 'chai';
import { CheckedApi, span, uuid, type Row } from '../harness/checked-api.js';

const JUDGE = uuid(500);
const JOB = uuid(501);
const call = (number: number, tags: Row, more: Row = {}) =>
  span(number, {
    kind: 'llm',
    input_data: 'please judge a refund',
    tags,
    trace_tags: tags,
    cost: 0.25,
    attributes: { inputTokens: 100, outputTokens: 7 },
    ...more,
  });

describe("the server's own calls of models", () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await api.post('spans', [
      span(1, { input_data: 'a refund', cost: 1 }),
      call(2, { 'spanhouse.judge': JUDGE }),
      call(3, { 'spanhouse.judge': JUDGE }, { status: 'error', cost: 0.5 }),
      call(4, { 'spanhouse.calibration': JOB, 'spanhouse.judge': JUDGE }),
      call(5, { 'spanhouse.optimization': uuid(502) }, { started_at: '2026-02-01T00:00:00Z' }),
      call(6, { 'spanhouse.playground': uuid(503) }, { cost: 0.125 }),
    ]);
  });
  after(() => api.dispose());

  const own = [uuid(2), uuid(3), uuid(4), uuid(5), uuid(6)];
  const traceOf = (id: string) => uuid(Number.parseInt(id.slice(-12), 16) + 1_000_000);
  const found = async (list: 'spans' | 'traces', query: string) => (await api.ids(list, query)).sort();

  for (const list of ['spans', 'traces'] as const) {
    const ids = (spans: readonly string[]) => (list === 'spans' ? [...spans] : spans.map(traceOf));

    it(`GET /${list} leaves them out, of counts and searches too`, async () => {
      expect(await found(list, '')).to.deep.equal(ids([uuid(1)]));
      expect(await found(list, 'q=refund')).to.deep.equal(ids([uuid(1)]));
      expect(await found(list, 'sort_by=cost')).to.deep.equal(ids([uuid(1)]));
      expect(await found(list, 'started_after=2026-01-01')).to.deep.equal(ids([uuid(1)]));
      const counted = await api.send('GET', list, 'count=true&limit=1');
      expect(counted.headers.get('x-total-count')).to.equal('1');
    });

    it(`GET /${list} lists them too, or alone, when asked to`, async () => {
      expect(await found(list, 'internal=true')).to.deep.equal(ids([uuid(1), ...own]));
      expect(await found(list, 'internal=only')).to.deep.equal(ids(own));
      expect(await found(list, 'internal=only&q=refund')).to.deep.equal(ids(own));
      expect(await found(list, 'internal=only&started_after=2026-02-01')).to.deep.equal(ids([uuid(5)]));
      expect(await found(list, 'internal=false')).to.deep.equal(ids([uuid(1)]));
      expect(await api.refused('GET', list, 'internal=yes')).to.deep.equal({
        '?internal': 'must be one of true, false, only',
      });
    });

    it(`GET /${list} answers one that is asked for by id or by its tag`, async () => {
      const [id = ''] = ids([uuid(3)]);
      expect(await found(list, `id=${id}`)).to.deep.equal([id]);
      expect(await found(list, `id=${id}&internal=false`)).to.deep.equal([]);
      expect(await found(list, `spanhouse.judge=${JUDGE}`)).to.deep.equal(ids([uuid(2), uuid(3), uuid(4)]));
    });
  }

  it('GET /spans answers those of a trace that is asked for', async () => {
    expect(await found('spans', `trace_id=${traceOf(uuid(2))}`)).to.deep.equal([uuid(2)]);
  });

  it('count in a session that a client puts them in, and are listed by it', async () => {
    const session = uuid(600);
    await api.post('spans', [call(9, { 'spanhouse.judge': uuid(601) }, { session_id: session, cost: 0 })]);
    expect(await api.one('sessions', session)).to.include({ trace_count: 1 });
    expect(await found('traces', `session_id=${session}`)).to.deep.equal([traceOf(uuid(9))]);
    expect(await found('spans', `session_id=${session}`)).to.deep.equal([uuid(9)]);
    await api.server.request('DELETE', `/sessions/${session}`, { key: api.server.key });
  });

  const usage = (query = '') =>
    api.server.request('GET', `/projects/${api.server.projectId}/internal-usage${query}`, { key: api.server.key });

  it('have a cost of their own, in all and by judge, job and user', async () => {
    const { json } = await usage();
    expect(json.total).to.deep.equal({ calls: 5, errors: 1, input_tokens: 500, output_tokens: 35, cost: 1.375 });
    const gone = { name: null, subject_id: null };
    expect(json.groups).to.deep.equal([
      { purpose: 'judge', id: JUDGE, ...gone, calls: 2, errors: 1, input_tokens: 200, output_tokens: 14, cost: 0.75 },
      {
        purpose: 'calibration',
        id: JOB,
        ...gone,
        calls: 1,
        errors: 0,
        input_tokens: 100,
        output_tokens: 7,
        cost: 0.25,
      },
      {
        purpose: 'optimization',
        id: uuid(502),
        ...gone,
        calls: 1,
        errors: 0,
        input_tokens: 100,
        output_tokens: 7,
        cost: 0.25,
      },
      {
        purpose: 'playground',
        id: uuid(503),
        ...gone,
        calls: 1,
        errors: 0,
        input_tokens: 100,
        output_tokens: 7,
        cost: 0.125,
      },
    ]);
  });

  it('are summed up within a time', async () => {
    expect((await usage('?started_after=2026-02-01')).json.total.calls).to.equal(1);
    expect((await usage('?started_before=2026-01-31')).json.total.calls).to.equal(4);
    expect((await usage('?started_before=2020-01-01')).json).to.deep.equal({
      total: { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, cost: null },
      groups: [],
    });
    const crossed = await usage('?started_after=2026-02-02&started_before=2026-02-01');
    expect([crossed.status, crossed.json.detail]).to.deep.equal([
      422,
      '?started_before must not be before started_after',
    ]);
  });
});
