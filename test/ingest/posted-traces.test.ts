import { expect } from 'chai';
import { SessionInput, TraceInput } from '../../src/domain/trace/schema.js';
import { CheckedApi, each, span, START, uuid, type Row } from '../harness/checked-api.js';

const NIL = '00000000-0000-0000-0000-000000000000';
const tags = { text: 'x', one: 1, yes: true, none: null };
const keptTags = { text: 'x', one: '1', yes: 'true' };
const badTags = [7, 'x', [], { a: {} }, { a: [] }, { 'a\nb': [] }, { ['k'.repeat(1025)]: 'x' }];
const badAttributes = [7, 'x', true, []];

describe('POST /traces and /sessions', () => {
  let api: CheckedApi;
  let next = 1;

  before(async () => {
    api = await CheckedApi.boot();
  });
  after(() => api.dispose());

  const trace = (more: Row = {}): Row => ({
    id: uuid(next++),
    session_id: uuid(900_000),
    name: 'trace',
    started_at: START,
    ...more,
  });
  const session = (more: Row = {}): Row => ({ id: uuid(next++), project_id: api.server.projectId, ...more });

  /** Posts one and answers it, the same as a later read. */
  async function store(list: 'traces' | 'sessions', element: Row): Promise<Row> {
    const [posted] = await api.post(list, [element]);
    expect(await api.one(list, String(posted?.['id']))).to.deep.equal(posted);
    return posted ?? {};
  }

  async function expectInOrder(list: 'traces' | 'sessions', make: (more: Row) => Row): Promise<void> {
    const [a, b] = [make({ name: 'a' }), make({ name: 'b' })];
    const posted = await api.post(list, [b, a, { ...b, name: 'later' }]);
    expect(posted.map(({ id, name }) => [id, name])).to.deep.equal([
      [b['id'], 'later'],
      [a['id'], 'a'],
      [b['id'], 'later'],
    ]);
    expect(await api.post(list, [])).to.deep.equal([]);
  }

  async function expectRefused(
    list: 'traces' | 'sessions',
    make: (more: Row) => Row,
    bad: Record<string, readonly unknown[]>,
  ) {
    const cases = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const));
    await each(cases, async ([field, value]) => {
      const good = make({});
      const found = Object.keys(await api.refused('POST', list, [good, make({ [field]: value })]));
      const label = `${field} = ${JSON.stringify(value)?.slice(0, 80)}: ${found.join(' ')}`;
      expect(found, label).to.have.length(1);
      expect(found[0]?.split('/').slice(0, 3).join('/'), label).to.equal(`/1/${field}`);
      expect(await api.get(list, [['id', good['id'] as string]])).to.deep.equal([]);
    });
  }

  describe('traces', () => {
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
        attributes: {},
        tags: {},
        has_error: false,
        project_id: api.server.projectId,
      };
      expect(await store('traces', trace())).to.deep.include(expected);
      expect(
        await store(
          'traces',
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
      expect(await store('traces', trace({ ...fields, tags, unknown: 'ignored' }))).to.deep.include({
        ...fields,
        tags: keptTags,
        has_error: true,
      });
      expect(await api.ids('sessions', `id=${uuid(900_001)}`)).to.have.length(1);
      expect(await store('traces', trace({ ended_at: '2026-01-31T10:00:01.000001Z' }))).to.include({
        duration_ms: 1000.001,
      });
      expect(await store('traces', trace({ duration_ms: 0, cost: 0 }))).to.include({ duration_ms: 0, cost: 0 });
      expect(await store('traces', trace({ started_at: 1769853600.000001, ended_at: 1769853601000 }))).to.include({
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
      await expectRefused('traces', trace, bad);
      expect(await api.refused('POST', 'traces', [{}, null, 7])).to.have.all.keys(
        '/0/session_id',
        '/0/name',
        '/0/started_at',
        '/1',
        '/2',
      );
    });

    it('posted again, the new one replaces the old one as a whole; created_at stays', async () => {
      const first = await store(
        'traces',
        trace({ cost: 3, status: 'error', tags, attributes: { a: 1 }, ended_at: START }),
      );
      const second = await store(
        'traces',
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
      await expectInOrder('traces', trace);
    });

    it('a request of 1,200 is answered in its order', async () => {
      const many = Array.from({ length: 1200 }, (_, index) => trace({ name: `n${index}`, session_id: uuid(900_003) }));
      const posted = await api.post('traces', many);
      expect(posted.map(({ name }) => name as string)).to.deep.equal(many.map(({ name }) => name as string));
      expect(await api.one('sessions', uuid(900_003))).to.include({ trace_count: 1200 });
    });
  });

  describe('sessions', () => {
    it('defaults of everything that is optional', async () => {
      const expected = {
        name: null,
        trace_count: 0,
        error_count: 0,
        cost: null,
        duration: null,
        started_at: null,
        ended_at: null,
        attributes: {},
        tags: {},
        has_error: false,
        project_id: api.server.projectId,
      };
      expect(await store('sessions', session())).to.deep.include(expected);
      expect(await store('sessions', session({ id: null, name: null, attributes: null, tags: null }))).to.deep.include(
        expected,
      );
      expect(await store('sessions', session({ name: '' }))).to.include({ name: null });
      expect(await store('sessions', session({ project_id: api.server.projectId.toUpperCase() }))).to.include({
        project_id: api.server.projectId,
      });
    });

    it('every field, as it was sent', async () => {
      const fields = { name: 'ünïcode 🧪', attributes: { a: [1] } };
      expect(await store('sessions', session({ ...fields, tags, unknown: 'ignored' }))).to.deep.include({
        ...fields,
        tags: keptTags,
      });
    });

    it('any field of a wrong type or out of its bounds is refused and named', async () => {
      const bad = {
        id: ['', 'x', 7, NIL],
        project_id: [null, 7, {}],
        name: [7, {}, 'x'.repeat(4097)],
        attributes: badAttributes,
        tags: badTags,
      };
      expect(Object.keys(bad).sort()).to.deep.equal(Object.keys(SessionInput.properties).sort());
      await expectRefused('sessions', session, bad);
      expect(await api.refused('POST', 'sessions', [{}, null, 7])).to.have.all.keys('/0/project_id', '/1', '/2');
    });

    it('another project is 403, and nothing of the request is stored', async () => {
      const good = session();
      const response = await api.send('POST', 'sessions', '', { body: [good, session({ project_id: uuid(1) })] });
      expect(response.status).to.equal(403);
      expect(await api.get('sessions', [['id', good['id'] as string]])).to.deep.equal([]);
    });

    it('posted again, the new one replaces the old one as a whole; created_at stays', async () => {
      const first = await store('sessions', session({ name: 'first', tags, attributes: { a: 1 } }));
      const second = await store('sessions', session({ id: first['id'] as string }));
      expect(second).to.deep.include({
        id: first['id'],
        name: null,
        tags: {},
        attributes: {},
        created_at: first['created_at'],
      });
    });

    it('what is stated wins over the spans, whichever comes first; figures are derived', async () => {
      const [before, after] = [session({ name: 'stated', tags }), session({ name: 'stated', tags })];
      await api.post('sessions', [before]);
      const spans = [before, after].map(({ id }, index) =>
        span(710_000 + index, {
          session: { id: id as string, name: 'from a span', tags: { text: 'span', own: 'y' } },
          cost: 2,
          error_message: 'm',
          ended_at: '2026-01-31T10:00:02Z',
        }),
      );
      await api.post('spans', spans);
      expect(await api.one('sessions', after['id'] as string)).to.deep.include({
        name: 'from a span',
        tags: { text: 'span', own: 'y' },
      });
      const [answered] = await api.post('sessions', [after]);
      for (const row of [answered ?? {}, await api.one('sessions', before['id'] as string)])
        expect(row).to.deep.include({
          name: 'stated',
          tags: { ...keptTags, own: 'y' },
          trace_count: 1,
          error_count: 1,
          has_error: true,
          cost: 2,
          duration: 2000,
          started_at: START,
          ended_at: '2026-01-31T10:00:02.000000Z',
        });
    });

    it('one answer per element, in their order; of the same twice the later wins', async () => {
      await expectInOrder('sessions', session);
    });
  });
});
