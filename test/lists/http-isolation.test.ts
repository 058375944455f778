import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { CheckedApi, listNames, span, START, uuid, type ListName } from '../harness/checked-api.js';
import { bootServer } from '../harness/server.js';

const OTHER_PROJECT = '0197f3a0-0000-7000-8000-000000000002';
const OTHER_KEY = 'sk_sh_test_key_of_another_project';

describe('two projects on one server', () => {
  let ours: CheckedApi;
  let theirs: CheckedApi;
  let ourProject: string;
  let ourKey: string;

  before(async () => {
    // A second start that names another project adds it, with its key; the first key stays valid.
    const first = await bootServer();
    const { dataDir } = first;
    [ourProject, ourKey] = [first.projectId, first.key];
    await first.stop();
    const server = await bootServer({
      dataDir,
      env: { SPANHOUSE_INIT_PROJECT_ID: OTHER_PROJECT, SPANHOUSE_INIT_API_KEY: OTHER_KEY },
    });
    const api = await CheckedApi.of(server);
    [ours, theirs] = [api.withKey(ourKey), api.withKey(OTHER_KEY)];
  });
  after(async () => {
    const { server } = ours;
    await server.stop();
    await rm(server.dataDir, { recursive: true, force: true });
  });

  const ids: Record<ListName, string> = { spans: uuid(1), traces: uuid(1_000_001), sessions: uuid(2_000_001) };
  const common = { session_id: ids.sessions, tags: { t: 'v' }, trace_tags: { t: 'v' }, session_tags: { t: 'v' } };

  it('see nothing of each other', async () => {
    await ours.post('spans', [span(1, { ...common, name: 'ours', cost: 1, input_data: 'secret' })]);
    for (const list of listNames) {
      expect(await ours.get(list)).to.have.length(1);
      for (const query of [
        '',
        `id=${ids[list]}`,
        'names=ours',
        't=v',
        'q=secret',
        'cost_min=0',
        'sort_by=name&sort_order=asc',
      ])
        expect(await theirs.get(list, query), `${list}?${query}`).to.deep.equal([]);
      expect((await theirs.send('GET', list, 'count=true')).headers.get('x-total-count')).to.equal('0');
    }
    expect(await theirs.get('spans', `trace_id=${ids.traces}`)).to.deep.equal([]);
    expect(await theirs.get('traces', `session_id=${ids.sessions}`)).to.deep.equal([]);
  });

  it('the same ids in both are two different things', async () => {
    await theirs.post('spans', [
      span(1, { ...common, name: 'theirs', cost: 5, input_data: 'other', started_at: '2026-02-01' }),
      span(2, { trace_id: ids.traces, session_id: ids.sessions, cost: 2 }),
    ]);
    expect(await ours.one('spans', ids.spans)).to.include({
      name: 'ours',
      cost: 1,
      input_data: 'secret',
      started_at: START,
    });
    expect(await theirs.one('spans', ids.spans)).to.include({ name: 'theirs', cost: 5, input_data: 'other' });
    expect(await ours.one('traces', ids.traces)).to.include({ span_count: 1, cost: 1, root_span_input: 'secret' });
    expect(await theirs.one('traces', ids.traces)).to.include({ span_count: 2, cost: 7 });
    expect(await ours.one('sessions', ids.sessions)).to.include({ trace_count: 1, cost: 1 });
    expect(await theirs.one('sessions', ids.sessions)).to.include({
      trace_count: 1,
      cost: 7,
      project_id: OTHER_PROJECT,
    });
  });

  it('an update in one changes nothing in the other', async () => {
    const before = await Promise.all(listNames.map((list) => theirs.get(list)));
    await ours.post('spans', [span(1, { ...common, name: 'renamed', cost: 100 })]);
    await ours.post('traces', [
      { id: ids.traces, session_id: ids.sessions, name: 'stated', started_at: START, cost: 3 },
    ]);
    await ours.post('sessions', [{ id: ids.sessions, project_id: ourProject, name: 'stated' }]);
    expect(await Promise.all(listNames.map((list) => theirs.get(list)))).to.deep.equal(before);
    expect(await ours.one('sessions', ids.sessions)).to.include({ name: 'stated', cost: 3 });
  });

  it('deleting by id is 404 for what only the other has, and leaves what it has under the same id', async () => {
    const { server } = ours;
    await theirs.post('spans', [span(7)]);
    const remove = (path: string) => server.request('DELETE', path, { key: ourKey });
    expect((await remove(`/spans/${uuid(7)}`)).status).to.equal(404);
    expect((await remove(`/traces/${uuid(1_000_007)}`)).status).to.equal(404);
    expect(await theirs.get('spans', `id=${uuid(7)}`)).to.have.length(1);
    expect((await remove(`/sessions/${ids.sessions}`)).status).to.equal(204);
    for (const list of listNames) expect(await ours.get(list)).to.deep.equal([]);
    expect(await theirs.one('sessions', ids.sessions)).to.include({ trace_count: 1, cost: 7 });
  });

  it('a session of another project is 403, before what else is wrong with the request', async () => {
    const bad = { id: 'x', name: 7, tags: 1 };
    for (const sessions of [
      [{ project_id: OTHER_PROJECT }],
      [{ project_id: ourProject }, { project_id: OTHER_PROJECT }],
      [{ project_id: OTHER_PROJECT, ...bad }],
      [bad, { project_id: OTHER_PROJECT }],
      [...Array.from({ length: 150 }, () => bad), { project_id: OTHER_PROJECT }],
      [{ project_id: 'no uuid' }],
    ]) {
      const response = await ours.send('POST', 'sessions', '', { body: sessions });
      expect(response.status, JSON.stringify(sessions).slice(0, 200)).to.equal(403);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
    }
    expect(await ours.get('sessions')).to.deep.equal([]);
  });
});
