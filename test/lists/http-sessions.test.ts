import { expect } from 'chai';
import { CheckedApi, span, uuid } from '../harness/checked-api.js';

describe('GET /spans?session_id=', () => {
  let api: CheckedApi;
  before(async () => {
    api = await CheckedApi.boot();
  });
  after(() => api.dispose());

  const SESSION = uuid(100);
  const OTHER = uuid(101);
  const ids = async (session: string, more = '') => (await api.ids('spans', `session_id=${session}${more}`)).sort();

  it("finds every span of the session's traces, also those that do not name it", async () => {
    await api.post('spans', [
      span(1, { trace_id: uuid(11), session_id: SESSION }),
      span(2, { trace_id: uuid(11), parent_span_id: uuid(1), kind: 'llm' }),
      span(3, { trace_id: uuid(12) }),
      span(4, { trace_id: uuid(13), session_id: OTHER }),
    ]);
    expect(await ids(SESSION)).to.deep.equal([uuid(1), uuid(2)]);
    expect(await ids(SESSION, '&span_kind=llm')).to.deep.equal([uuid(2)]);
    const counted = await api.send('GET', 'spans', `session_id=${SESSION}&count=true&limit=1`);
    expect(counted.headers.get('x-total-count')).to.equal('2');
  });

  it('follows a trace that is posted to a session, or whose spans name another one', async () => {
    await api.post('traces', [
      { id: uuid(12), session_id: SESSION, name: 'posted', started_at: '2026-01-31T10:00:00Z' },
    ]);
    expect(await ids(SESSION)).to.deep.equal([uuid(1), uuid(2), uuid(3)]);
    await api.post('spans', [span(1, { trace_id: uuid(11), session_id: OTHER })]);
    expect(await ids(SESSION)).to.deep.equal([uuid(3)]);
    expect(await ids(OTHER)).to.deep.equal([uuid(1), uuid(2), uuid(4)]);
  });

  it('goes with the id of a trace: its spans, if it belongs to the session', async () => {
    expect(await ids(OTHER, `&trace_id=${uuid(13)}`)).to.deep.equal([uuid(4)]);
    expect(await ids(SESSION, `&trace_id=${uuid(13)}`)).to.deep.equal([]);
  });

  it('finds nothing of a session that nobody named', async () => {
    expect(await ids(uuid(999))).to.deep.equal([]);
  });
});
