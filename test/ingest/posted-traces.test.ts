import { expect } from 'chai';
import { TraceInput } from '../../src/engine/traces/model/trace/schema.js';
import { CheckedApi, span, START, uuid, type Row } from '../harness/checked-api.js';
import { badAttributes, badTags, keptTags, Posting, tags } from './posting.js';

const NIL = '00000000-0000-0000-0000-000000000000';

describe('POST /traces', () => {
  let api: CheckedApi;
  let posting: Posting;
  let next = 1;

  before(async () => {
    api = await CheckedApi.boot();
    posting = new Posting(api, 'traces', trace);
  });
  after(() => api.dispose());

  const trace = (more: Row = {}): Row => ({
    id: uuid(next++),
    session_id: uuid(900_000),
    name: 'trace',
    started_at: START,
    ...more,
  });

  it('defaults of everything that is optional', async () => {
    const expected = {
      session_id: uuid(900_000),
      name: 'trace',
      status: 'unset',
      started_at: START,
      ended_at: null,
      duration_ms: null,
      cost: null,
      span_count: 0,
      error_count: 0,
      root_span_input: null,
      root_span_output: null,
      root_span_error: null,
      attributes: {},
      tags: {},
      has_error: false,
      project_id: api.server.projectId,
    };
    expect(await posting.store(trace())).to.deep.include(expected);
    expect(
      await posting.store(
        trace({
          id: null,
          status: null,
          ended_at: null,
          duration_ms: null,
          cost: null,
          attributes: null,
          tags: null,
        }),
      ),
    ).to.deep.include(expected);
    const [{ id = null } = {}] = await api.post('traces', [
      { session_id: uuid(900_000), name: 'no id', started_at: START },
    ]);
    expect(id).to.match(/^[0-9a-f-]{36}$/);
  });

  it('every field, as it was sent', async () => {
    const fields = {
      session_id: uuid(900_001),
      name: 'ünïcode 🧪',
      status: 'error',
      started_at: '2026-01-31T10:00:00.000001Z',
      ended_at: '2026-01-31T10:00:01.000002Z',
      duration_ms: 7.5,
      cost: 0.25,
      attributes: { a: [1] },
    };
    expect(await posting.store(trace({ ...fields, tags }))).to.deep.include({
      ...fields,
      tags: keptTags,
      has_error: true,
    });
    expect(await api.ids('sessions', `id=${uuid(900_001)}`)).to.have.length(1);
    expect(await posting.store(trace({ ended_at: '2026-01-31T10:00:01.000001Z' }))).to.include({
      duration_ms: 1000.001,
    });
    expect(await posting.store(trace({ duration_ms: 0, cost: 0 }))).to.include({ duration_ms: 0, cost: 0 });
    expect(await posting.store(trace({ started_at: 1769853600.000001, ended_at: 1769853601000 }))).to.include({
      started_at: '2026-01-31T10:00:00.000001Z',
      ended_at: '2026-01-31T10:00:01.000000Z',
    });
  });

  it('any field of a wrong type or out of its bounds is refused and named', async () => {
    const bad = {
      id: ['', 'x', 7, NIL],
      session_id: [null, '', 'x', 7, NIL],
      name: [null, '', 7, {}, 'x'.repeat(4097)],
      started_at: [null, '', 'x', true, -1, '12:30'],
      ended_at: ['', 'x', true, -1, '2026-01-31T09:59:59.999999Z'],
      status: ['', 'OK', 7],
      duration_ms: ['1', -1, 1.1e15],
      cost: ['1', -1, 1.1e12],
      attributes: badAttributes,
      tags: badTags,
    };
    expect(Object.keys(bad).sort()).to.deep.equal(Object.keys(TraceInput.properties).sort());
    await posting.expectRefused(bad);
    expect(await api.refused('POST', 'traces', [{}, null, 7])).to.have.all.keys(
      '/0/session_id',
      '/0/name',
      '/0/started_at',
      '/1',
      '/2',
    );
  });

  it('posted again, the new one replaces the old one as a whole; created_at stays', async () => {
    const first = await posting.store(trace({ cost: 3, status: 'error', tags, attributes: { a: 1 }, ended_at: START }));
    const second = await posting.store(
      trace({ id: String(first['id']).toUpperCase(), name: 'again', session_id: uuid(900_002) }),
    );
    expect(second).to.deep.include({
      id: first['id'],
      name: 'again',
      cost: null,
      status: 'unset',
      tags: {},
      attributes: {},
      ended_at: null,
      created_at: first['created_at'],
      session_id: uuid(900_002),
    });
  });

  it('what is stated wins over the spans, whichever comes first; the rest is derived', async () => {
    const spans = (traceId: string, id: number) => [
      span(id, {
        trace_id: traceId,
        cost: 1,
        status: 'ok',
        name: 'root',
        ended_at: '2026-01-31T10:00:05Z',
        input_data: 'in',
        trace_tags: { text: 'from a span', own: 'y' },
      }),
      span(id + 1, { trace_id: traceId, parent_span_id: uuid(id), cost: 2, error_code: 'E' }),
    ];
    const [before, after] = [trace({ cost: 7, tags, name: 'stated' }), trace({ cost: 7, tags, name: 'stated' })];
    await api.post('traces', [before]);
    await api.post('spans', [...spans(before['id'] as string, 700_000), ...spans(after['id'] as string, 700_010)]);
    expect(await api.one('traces', after['id'] as string)).to.include({
      name: 'root',
      cost: 3,
      session_id: null,
      status: 'error',
    });
    const [answered] = await api.post('traces', [after]);
    const derived = {
      span_count: 2,
      error_count: 1,
      status: 'error',
      ended_at: '2026-01-31T10:00:05.000000Z',
      duration_ms: 5000,
      root_span_input: 'in',
    };
    for (const row of [answered ?? {}, await api.one('traces', before['id'] as string)])
      expect(row).to.deep.include({
        name: 'stated',
        cost: 7,
        session_id: uuid(900_000),
        tags: { ...keptTags, own: 'y' },
        ...derived,
      });
  });

  it('one answer per element, in their order; of the same twice the later wins', async () => {
    await posting.expectInOrder();
  });

  it('a request of 1,200 is answered in its order', async () => {
    const many = Array.from({ length: 1200 }, (_, index) => trace({ name: `n${index}`, session_id: uuid(900_003) }));
    const posted = await api.post('traces', many);
    expect(posted.map(({ name }) => name as string)).to.deep.equal(many.map(({ name }) => name as string));
    expect(await api.one('sessions', uuid(900_003))).to.include({ trace_count: 1200 });
  });
});
