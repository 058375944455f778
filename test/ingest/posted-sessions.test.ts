import { expect } from 'chai';
import { SessionInput } from '../../src/engine/traces/model/trace/schema.js';
import { CheckedApi, span, START, uuid, type Row } from '../harness/checked-api.js';
import { badAttributes, badTags, keptTags, Posting, tags } from './posting.js';

const NIL = '00000000-0000-0000-0000-000000000000';

describe('POST /sessions', () => {
  let api: CheckedApi;
  let posting: Posting;
  let next = 1;

  before(async () => {
    api = await CheckedApi.boot();
    posting = new Posting(api, 'sessions', session);
  });
  after(() => api.dispose());

  const session = (more: Row = {}): Row => ({ id: uuid(next++), project_id: api.server.projectId, ...more });

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
    expect(await posting.store(session())).to.deep.include(expected);
    expect(await posting.store(session({ id: null, name: null, attributes: null, tags: null }))).to.deep.include(
      expected,
    );
    expect(await posting.store(session({ name: '' }))).to.include({ name: null });
    expect(await posting.store(session({ project_id: api.server.projectId.toUpperCase() }))).to.include({
      project_id: api.server.projectId,
    });
  });

  it('every field, as it was sent', async () => {
    const fields = { name: 'ünïcode 🧪', attributes: { a: [1] } };
    expect(await posting.store(session({ ...fields, tags }))).to.deep.include({
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
    await posting.expectRefused(bad);
    expect(await api.refused('POST', 'sessions', [{}, null, 7])).to.have.all.keys('/0/project_id', '/1', '/2');
  });

  it('another project is 403, and nothing of the request is stored', async () => {
    const good = session();
    const response = await api.send('POST', 'sessions', '', { body: [good, session({ project_id: uuid(1) })] });
    expect(response.status).to.equal(403);
    expect(await api.get('sessions', [['id', good['id'] as string]])).to.deep.equal([]);
  });

  it('posted again, the new one replaces the old one as a whole; created_at stays', async () => {
    const first = await posting.store(session({ name: 'first', tags, attributes: { a: 1 } }));
    const second = await posting.store(session({ id: first['id'] as string }));
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
    await posting.expectInOrder();
  });
});
