import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

describe('scores', () => {
  let server: TestServer;
  let api: ScoreApi;
  before(async () => {
    server = await bootServer();
    api = await scoreApi(server);
  });
  after(() => server?.dispose());

  it('are stored and readable once the call is answered, alone and as an array', async () => {
    const one = await api.post(score({ comment: 'clear', metadata: { round: 1 }, author: 'grader 2', source: 'code' }));
    expect(one).to.have.length(1);
    expect(one[0]).to.include({ entity_type: 'span', name: 'helpful', kind: 'boolean', value: true, source: 'code' });
    expect(one[0]).to.deep.include({ author: 'grader 2', comment: 'clear', metadata: { round: 1 } });
    expect((await api.get(one[0].id)).json).to.deep.equal(one[0]);
    const id = randomUUID();
    const many = await api.post([
      score({ entity_type: 'trace', entity_id: id, name: 'accuracy', value: 0.75 }),
      score({ entity_type: 'session', entity_id: id, name: 'mood', value: 'calm' }),
    ]);
    expect(await api.list(`?entity_id=${id}&sort_order=asc`)).to.deep.equal(many);
  });

  it('replace what the same author said of the same name before, and only that', async () => {
    const entity_id = randomUUID();
    const [first] = await api.post(score({ entity_id, author: 'ann', source: 'human' }));
    await api.post(score({ entity_id, author: 'ben', source: 'human' }));
    const [again] = await api.post(score({ entity_id, author: 'ann', source: 'human', value: false }));
    expect(again.id).to.equal(first.id);
    const found = await api.list(`?entity_id=${entity_id}`);
    expect(found.map(({ author, value }) => [author, value])).to.deep.equal([
      ['ann', false],
      ['ben', true],
    ]);
    expect(again.created_at > first.created_at).to.equal(true);
  });

  it('take the last of two in one request', async () => {
    const entity_id = randomUUID();
    await api.post([score({ entity_id }), score({ entity_id, value: false })]);
    expect(await api.values(`?entity_id=${entity_id}`)).to.deep.equal([false]);
  });

  it("say who gave them: of people, the key's user by default", async () => {
    const [human] = await api.post(score({ source: 'human' }));
    expect(human.author).to.be.a('string').and.not.equal('');
    const [sdk] = await api.post(score());
    expect(sdk).to.include({ source: 'sdk', author: null });
  });

  it('are deleted, and may come back', async () => {
    const sent = score();
    const [{ id }] = await api.post(sent);
    expect((await api.remove(id)).status).to.equal(204);
    expect((await api.get(id)).status).to.equal(404);
    expect((await api.remove(id)).status).to.equal(404);
    expect(await api.list(`?entity_id=${sent['entity_id']}`)).to.deep.equal([]);
    await api.post(sent);
    expect((await api.get(id)).json.value).to.equal(true);
  });

  it('are listed of a trace with its spans, and of a session with its traces', async () => {
    const [session_id, trace_id, span_id, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const span = (id: string, trace: string, more = {}) => ({
      id,
      trace_id: trace,
      name: 's',
      started_at: Date.now(),
      ...more,
    });
    const scored = (entity_type: string, entity_id: string, value: string) =>
      score({ entity_type, entity_id, name: 'place', value });
    await api.request('POST', '/spans', [span(span_id, trace_id, { session_id }), span(other, randomUUID())]);
    await api.post([
      ...[scored('span', span_id, 'span'), scored('trace', trace_id, 'trace')],
      ...[scored('session', session_id, 'session'), scored('span', other, 'elsewhere')],
    ]);
    expect(await api.values(`?trace_id=${trace_id}&sort_by=value`)).to.deep.equal(['trace', 'span']);
    expect(await api.values(`?session_id=${session_id}&sort_by=value`)).to.deep.equal(['trace', 'span', 'session']);
    expect(await api.values(`?session_id=${session_id}&entity_type=span`)).to.deep.equal(['span']);
    expect(await api.values(`?trace_id=${trace_id}&session_id=${randomUUID()}`)).to.deep.equal([]);
  });

  it('are listed by what is asked for', async () => {
    const entity_id = randomUUID();
    const of = (value: number | string, more = {}) =>
      score({ entity_id: randomUUID(), name: typeof value === 'number' ? 'level' : 'tone', value, ...more });
    await api.post([
      ...[of(1), of(2, { author: 'a,b' }), of(3, { source: 'code' })],
      ...[of('dry'), of('warm', { entity_type: 'trace', entity_id })],
    ]);
    expect(await api.values('?name=level&sort_by=value')).to.deep.equal([3, 2, 1]);
    expect(await api.values('?name=level&value_min=2&sort_by=value&sort_order=asc')).to.deep.equal([2, 3]);
    expect(await api.values('?name=level&value_max=1.5')).to.deep.equal([1]);
    expect(await api.values('?name=level,tone&source=code')).to.deep.equal([3]);
    expect(await api.values('?author=a%252Cb')).to.deep.equal([2]);
    expect(await api.values('?value=dry,warm&sort_by=value')).to.deep.equal(['warm', 'dry']);
    expect(await api.values(`?entity_type=trace&entity_id=${entity_id}`)).to.deep.equal(['warm']);
    expect(await api.values('?name=level&sort_by=value&limit=1&offset=1')).to.deep.equal([2]);
    expect(await api.values('?name=level&created_before=2020-01-01')).to.deep.equal([]);
    const counted = await api.request('GET', '/scores?name=level&count=true&limit=1');
    expect(counted.headers.get('x-total-count')).to.equal('3');
    expect((await api.request('GET', '/scores?nam=level')).status).to.equal(422);
  });

  it('stand or fall together, and say which element breaks which rule', async () => {
    const entity_id = randomUUID();
    const issues = await api.refused([
      score({ entity_id }),
      score({ entity_type: 'song' }),
      score({ entity_id: 'x' }),
      score({ value: null }),
      score({ value: 7 }),
      score({ extra: 1 }),
      score({ name: 'a\nb' }),
    ]);
    expect(Object.keys(issues)).to.have.members([
      '/1/entity_type',
      '/2/entity_id',
      '/3/value',
      '/4/value',
      '/5/extra',
      '/6/name',
    ]);
    expect(issues['/4/value']).to.match(/must be true or false: the scores named "helpful" are boolean/);
    expect(await api.list(`?entity_id=${entity_id}`)).to.deep.equal([]);
    expect(Object.keys(await api.refused(Array(1001).fill(score())))).to.deep.equal(['']);
    expect(Object.keys(await api.refused('"no object"'))).to.deep.equal(['']);
    expect(await api.post([])).to.deep.equal([]);
  });

  it('of one project are nothing to another', async () => {
    const other = secondProject(server);
    const [{ id, entity_id }] = await api.post(score());
    for (const path of [`/scores/${id}`, `/projects/${server.projectId}/score-definitions`]) {
      const { status } = await api.request('GET', path, undefined, other.key);
      expect([403, 404]).to.include(status);
    }
    const seen = await api.request('GET', `/scores?entity_id=${entity_id}`, undefined, other.key);
    expect(seen.json).to.deep.equal([]);
    expect((await api.request('DELETE', `/scores/${id}`, undefined, other.key)).status).to.equal(404);
    expect((await api.get(id)).status).to.equal(200);
  });

  it('survive a restart', async () => {
    const [sent] = await api.post(score({ name: 'kept/slash', value: -0.5 }));
    const { dataDir } = server;
    await server.stop();
    server = await bootServer({ dataDir });
    api = await scoreApi(server);
    expect((await api.get(sent.id)).json).to.deep.equal(sent);
    expect((await api.definition('kept/slash')).json).to.include({ name: 'kept/slash', kind: 'numeric' });
  });
});

describe('definitions of scores', () => {
  let server: TestServer;
  let api: ScoreApi;
  before(async () => {
    server = await bootServer();
    api = await scoreApi(server);
  });
  after(() => server?.dispose());

  it('are made by the first value of a name', async () => {
    await api.post([
      score({ name: 'n', value: 1.5 }),
      score({ name: 'b', value: false }),
      score({ name: 'c', value: 'short' }),
      score({ name: 't', value: 'x'.repeat(201) }),
      score({ name: 'lines', value: 'two\nlines' }),
    ]);
    const kinds = Object.fromEntries((await api.definitions()).map(({ name, kind }) => [name, kind]));
    expect(kinds).to.deep.equal({ n: 'numeric', b: 'boolean', c: 'categorical', t: 'text', lines: 'text' });
  });

  it('take 0, 1, false and true for each other, and nothing else', async () => {
    expect((await api.post(score({ name: 'b', value: 1 })))[0]).to.include({ kind: 'boolean', value: true });
    expect((await api.post(score({ name: 'n', value: true })))[0]).to.include({ kind: 'numeric', value: 1 });
    expect(await api.refused(score({ name: 'b', value: 0.5 }))).to.have.keys('/value');
    expect(await api.refused(score({ name: 'n', value: 'one' }))).to.have.keys('/value');
    expect(await api.refused(score({ name: 'c', value: 1 }))).to.have.keys('/value');
  });

  it('refuse values beyond the bounds and categories that are set', async () => {
    expect((await api.define('level', { kind: 'numeric', min: 1, max: 5, direction: 'higher' })).status).to.equal(201);
    await api.post(score({ name: 'level', value: 5 }));
    expect((await api.refused(score({ name: 'level', value: 6 })))['/value']).to.match(/at most 5/);
    expect((await api.define('c', { kind: 'categorical', categories: ['a', 'b'] })).status).to.equal(200);
    expect((await api.refused(score({ name: 'c', value: 'short' })))['/value']).to.match(/one of "a", "b"/);
    expect((await api.definition('c')).json).to.deep.include({ categories: ['a', 'b'], min: null });
  });

  it('refuse settings of another kind', async () => {
    const path = `/projects/${server.projectId}/score-definitions/new`;
    expect(await api.refused({ kind: 'boolean', min: 1, categories: ['x'] }, 'PUT', path)).to.have.keys(
      '/min',
      '/categories',
    );
    expect(await api.refused({ kind: 'numeric', min: 2, max: 1 }, 'PUT', path)).to.have.keys('/max');
  });

  it('keep their kind, and stay, while there are scores', async () => {
    const [{ id }] = await api.post(score({ name: 'busy', value: 3 }));
    expect((await api.define('busy', { kind: 'text' })).status).to.equal(409);
    expect((await api.removeDefinition('busy')).status).to.equal(409);
    await api.remove(id);
    expect((await api.define('busy', { kind: 'text' })).status).to.equal(200);
    expect((await api.removeDefinition('busy')).status).to.equal(204);
    expect((await api.definition('busy')).status).to.equal(404);
  });

  it('are bounded in number', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => score({ name: `many ${index}`, value: 1 }));
    const issues = await api.refused(names);
    expect(Object.values(issues)[0]).to.match(/at most 1000 score definitions/);
    expect((await api.definitions()).some(({ name }) => name.startsWith('many'))).to.equal(false);
  });
});
