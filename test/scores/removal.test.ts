import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

describe('scores of what is deleted', () => {
  let server: TestServer;
  let api: ScoreApi;
  before(async () => {
    server = await sharedServer();
    api = await scoreApi(server);
  });
  after(() => server?.dispose());

  /** A session of one trace with two spans, all scored. */
  async function scored() {
    const [session_id, trace_id, first, second] = Array.from({ length: 4 }, () => randomUUID());
    const span = (id: string | undefined) => ({
      id,
      trace_id,
      session_id,
      name: 'a',
      started_at: '2026-01-15T10:00:00Z',
    });
    expect((await server.request('POST', '/spans', { body: [span(first), span(second)] })).status).to.equal(200);
    await api.post([
      score({ entity_id: first }),
      score({ entity_id: second }),
      score({ entity_type: 'trace', entity_id: trace_id }),
      score({ entity_type: 'session', entity_id: session_id }),
    ]);
    const left = async () => {
      const found = await api.list(`?entity_id=${[session_id, trace_id, first, second].join(',')}`);
      return found.map(({ entity_type }) => entity_type as string).sort();
    };
    return { session: session_id, trace: trace_id, first, second, left };
  }

  const remove = async (path: string) => expect((await server.request('DELETE', path)).status).to.equal(204);

  it('go with their span, and with the trace and session that nothing is left of', async () => {
    const { first, second, left } = await scored();
    await remove(`/spans/${first}`);
    expect(await left()).to.deep.equal(['session', 'span', 'trace']);
    await remove(`/spans/${second}`);
    expect(await left()).to.deep.equal([]);
  });

  it('go with their trace', async () => {
    const { trace, left } = await scored();
    await remove(`/traces/${trace}`);
    expect(await left()).to.deep.equal([]);
  });

  it('go with their session', async () => {
    const { session, left } = await scored();
    const other = await scored();
    await remove(`/sessions/${session}`);
    expect(await left()).to.deep.equal([]);
    expect(await other.left()).to.have.length(4);
  });

  it('stay while a span of the same id is in another trace', async () => {
    const { first, trace, left } = await scored();
    const twin = { id: first, trace_id: randomUUID(), name: 'b', started_at: '2026-01-15T10:00:00Z' };
    await server.request('POST', '/spans', { body: [twin] });
    await remove(`/traces/${trace}`);
    expect(await left()).to.deep.equal(['span']);
  });

  it('are new ones when they are sent again', async () => {
    const { first, left } = await scored();
    await remove(`/spans/${first}`);
    await api.post(score({ entity_id: first }));
    expect(await left()).to.deep.equal(['session', 'span', 'span', 'trace']);
  });
});
