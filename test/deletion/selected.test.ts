import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { PlanSigner } from '../../src/features/deletion/selected-deletion-plan.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { CheckedApi, span, uuid, type ListName, type Row } from '../harness/checked-api.js';
import { calls, SelectedApi } from './selected-api.js';

const AT_ONCE = 4;

describe('deletions by filters', function () {
  this.timeout(60_000);
  let server: TestServer;
  let api: CheckedApi;
  let selected: SelectedApi;
  /** What a test does at each step of a deletion. */
  let atStep: () => void = () => undefined;

  before(async () => {
    server = await bootServer({ deletedAtOnce: AT_ONCE, onDeletionStep: () => atStep() });
    api = await CheckedApi.of(server);
    selected = new SelectedApi(calls(server));
  });
  beforeEach(() => (atStep = () => undefined));
  after(() => server.dispose());

  const env = (name: string) => ({ tags: { env: name } });
  const ids = async (list: ListName, query: string) => (await api.ids(list, `${query}&limit=500`)).sort();

  it('of traces remove what the dry run found, and nothing that came after it', async () => {
    const spans = Array.from({ length: 20 }, (_, n) =>
      span(n, { trace_id: uuid(1000 + (n % 10)), session_id: uuid(2000 + (n % 2)), cost: 0.25, ...env('old') }),
    );
    const others = [span(50, { ...env('kept'), session_id: uuid(2000), cost: 1 }), span(51, { ...env('kept') })];
    await api.post('spans', [...spans, ...others]);
    const slug = '/v1/tasks/task/prompt/versions/ensure';
    await server.request('POST', slug, { body: { content: 'x' } });
    for (const n of [0, 50]) {
      const body = { thumbs_up: true, reason: `reason ${n}` };
      await server.request('POST', `/v1/prompts/task/completions/${uuid(n)}/feedback`, { body });
      const score = { entity_type: 'span', entity_id: uuid(n), name: 'good', value: 1 };
      await server.request('POST', '/scores', { body: score });
    }
    const before = await api.get('traces', 'tags.env=kept');
    const plan = await selected.plan('traces', 'tags.env=old');
    expect(plan).to.deep.include({ list: 'traces', traces: 10, spans: 20, sessions: 2, cost: 5 });
    const starts = (await api.get('spans', 'tags.env=old')).map((row) => String(row['started_at'])).sort();
    expect([plan.oldest_started_at, plan.newest_started_at]).to.deep.equal([starts[0], starts.at(-1)]);
    expect(await ids('traces', 'tags.env=old'), 'nothing is deleted').to.have.length(10);

    // A new trace that matches, and a trace that goes on.
    await api.post('spans', [span(60, env('old')), span(61, { trace_id: uuid(1003), ...env('old') })]);
    const job = await selected.run(plan.confirm);
    expect(job).to.deep.include({ status: 'done', traces: 10, total: 10, deleted: 9, error: null });
    const [late] = await api.get('spans', `id=${uuid(60)}`);
    expect(await ids('traces', 'tags.env=old')).to.deep.equal([uuid(1003), String(late?.['trace_id'])].sort());
    expect(await api.ids('spans', `trace_id=${uuid(1003)}`)).to.have.length(3);
    expect(await api.get('traces', 'tags.env=kept')).to.deep.equal(before);
    const sessions = await api.get('sessions', 'fields=id,trace_count,cost');
    expect(sessions.find(({ id }) => id === uuid(2000))).to.include({ trace_count: 1, cost: 1 });
    expect(sessions.find(({ id }) => id === uuid(2001))).to.include({ trace_count: 1, cost: 0.5 });
    const scores = (await server.request('GET', '/scores')).json as Row[];
    expect(scores.map(({ entity_id }) => entity_id)).to.deep.equal([uuid(50)]);
    const feedback = (await server.request('GET', `/projects/${server.projectId}/prompts/task/feedback`)).json;
    expect(feedback.total).to.equal(1);
  });

  it('of spans leave the rest of their traces, and a span that was sent again', async () => {
    const trace = uuid(3000);
    const one = (n: number, more: object = {}) => span(n, { trace_id: trace, cost: 1, ...more });
    await api.post('spans', [one(300), ...Array.from({ length: 8 }, (_, n) => one(301 + n, { kind: 'tool' }))]);
    const plan = await selected.plan('spans', `trace_id=${trace}&span_kind=tool`);
    expect(plan).to.include({ traces: 1, spans: 8, sessions: 0, cost: 8 });
    await api.post('spans', [one(301, { kind: 'tool', name: 'again' })]);
    expect(await selected.run(plan.confirm)).to.include({ status: 'done', deleted: 7 });
    expect(await ids('spans', `trace_id=${trace}`)).to.deep.equal([uuid(300), uuid(301)]);
    expect(await api.one('traces', trace)).to.include({ span_count: 2, cost: 2 });
  });

  for (const [list, type] of [
    ['spans', 'span'],
    ['traces', 'span'],
    ['traces', 'trace'],
    ['sessions', 'trace'],
  ] as const)
    it(`of ${list} keep those whose ${type} was scored after the dry run`, async () => {
      const base = 7000 + 100 * [...`${list}${type}`].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
      const name = `of_${list}_${type}`;
      const [traceOf, sessionOf] = [(n: number) => uuid(base + 20 + n), (n: number) => uuid(base + 40 + n)];
      await api.post(
        'spans',
        Array.from({ length: 6 }, (_, n) => span(base + n, { trace_id: traceOf(n), session_id: sessionOf(n) })),
      );
      const score = async (n: number, value: number) => {
        const entity_id = type === 'span' ? uuid(base + n) : traceOf(n);
        const body = { entity_type: type, entity_id, name, value };
        expect((await server.request('POST', '/scores', { body })).status).to.equal(200);
      };
      for (let n = 0; n < 6; n += 1) await score(n, n < 3 ? 0.1 : 0.9);
      const plan = await selected.plan(list, `scores.${name}=..0.5`);
      expect(plan[list]).to.equal(3);
      await score(4, 0.2);
      await score(0, 0.3);
      expect(await selected.run(plan.confirm)).to.include({ status: 'done', deleted: 2 });
      const idOf = { spans: (n: number) => uuid(base + n), traces: traceOf, sessions: sessionOf }[list];
      expect(await ids(list, `scores.${name}=0..1`)).to.deep.equal([0, 3, 4, 5].map(idOf).sort());
    });

  it('of sessions remove their traces, and keep a session that goes on', async () => {
    const of = (n: number) => span(n, { session_id: uuid(4000 + (n % 5)), ...env('sessions') });
    await api.post(
      'spans',
      Array.from({ length: 10 }, (_, n) => of(400 + n)),
    );
    const posted = { id: uuid(4000), project_id: server.projectId, name: 'posted' };
    await api.post('sessions', [posted]);
    const plan = await selected.plan('sessions', 'tags.env=sessions');
    expect(plan).to.include({ traces: 10, spans: 10, sessions: 5 });
    await api.post('spans', [span(450, { session_id: uuid(4002) })]);
    expect(await selected.run(plan.confirm)).to.include({ status: 'done', deleted: 4 });
    expect(await ids('sessions', 'tags.env=sessions')).to.deep.equal([uuid(4002)]);
    expect(await ids('traces', 'tags.env=sessions')).to.have.length(2);
  });

  it('go on after a stop in the middle, and count what they deleted once', async () => {
    await api.post(
      'spans',
      Array.from({ length: 10 }, (_, n) => span(500 + n, env('stopped'))),
    );
    const plan = await selected.plan('traces', 'tags.env=stopped');
    let steps = 0;
    // The second portion is ordered and cut off, again and again, until the next start.
    atStep = () => {
      steps += 1;
      if (steps > 12) throw new DomainError('unavailable', 'cut off');
    };
    const { id } = await selected.start(plan.confirm);
    while (steps <= 12) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await selected.get(id)).status).to.equal('running');
    await server.stop();
    atStep = () => undefined;
    server = await bootServer({ deletedAtOnce: AT_ONCE, onDeletionStep: () => atStep(), dataDir: server.dataDir });
    api = await CheckedApi.of(server);
    selected = new SelectedApi(calls(server));
    expect(await selected.ended(id)).to.include({ status: 'done', deleted: 10 });
    expect(await ids('traces', 'tags.env=stopped')).to.deep.equal([]);
  });

  it('can be canceled, and leave what was not deleted yet', async () => {
    await api.post(
      'spans',
      Array.from({ length: 10 }, (_, n) => span(600 + n, env('canceled'))),
    );
    const plan = await selected.plan('traces', 'tags.env=canceled');
    let id = '';
    let canceled: Promise<{ readonly status: number }> | undefined;
    atStep = () => {
      if (id !== '') canceled ??= server.request('POST', `${selected.path}/${id}:cancel`);
    };
    ({ id } = await selected.start(plan.confirm));
    const job = await selected.ended(id);
    expect((await canceled)?.status).to.equal(200);
    expect(job.status).to.equal('cancelled');
    // The portion under way is completed.
    let left = 10;
    while (left === 10) left = (await ids('traces', 'tags.env=canceled')).length;
    expect(left).to.equal(10 - AT_ONCE);
    expect((await server.request('POST', `${selected.path}/${id}:cancel`)).status).to.equal(409);
    expect((await server.request('GET', selected.path)).json[0]).to.include({ id, query: 'tags.env=canceled' });
  });

  it('are refused without a dry run of the project, and to a key that may not change', async () => {
    const refused = async (body: unknown, key = server.key) => {
      const { status, json } = await server.request('POST', selected.path, { body, key });
      return [status, ...((json.errors ?? []) as { pointer: string }[]).map(({ pointer }) => pointer)];
    };
    const { confirm } = await selected.plan('traces', '');
    expect(await refused({})).to.deep.equal([422, '/confirm']);
    expect(await refused({ dry_run: true, confirm })).to.deep.equal([422, '/confirm']);
    expect(await refused({ dry_run: true })).to.deep.equal([422, '/list']);
    expect(await refused({ confirm, list: 'traces' })).to.deep.equal([422, '/list']);
    expect(await refused({ dry_run: true, list: 'traces', query: 'limit=5' })).to.deep.equal([422, '?limit']);
    expect(await refused({ confirm: `${confirm.slice(0, -2)}xx` })).to.deep.equal([422, '/confirm']);
    expect(await refused({ confirm: 'x' })).to.deep.equal([422, '/confirm']);
    const keys = `/projects/${server.projectId}/api-keys`;
    for (const access of ['read', 'ingest']) {
      const { key } = (await server.request('POST', keys, { body: { name: access, access } })).json;
      expect(await refused({ confirm }, key)).to.deep.equal([403]);
    }
    const other = makeProject(server.dataDir);
    const stolen = await server.request('POST', `/projects/${other.projectId}/deletions`, {
      body: { confirm },
      key: other.key,
    });
    expect(stolen.status).to.equal(422);
    const none = { traces: 0, spans: 0, sessions: 0, cost: null, oldest: null, newest: null };
    const signer = new PlanSigner(Buffer.alloc(32));
    const found = { upTo: 1_000e6, ...none };
    const old = signer.sign('p', { list: 'traces', query: '', found, selection: {} as never });
    expect(signer.read('p', old, 4_600e6).found).to.deep.equal(found);
    expect(() => signer.read('p', old, 4_601e6)).to.throw('more than an hour old');
    expect(await api.ids('traces'), 'everything is still there').to.not.have.length(0);
  });
});
