import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { score, scoreApi, type ScoreApi } from './score-api.js';

describe('signals of the Python SDK', () => {
  let server: TestServer;
  let api: ScoreApi;
  before(async () => {
    server = await sharedServer();
    api = await scoreApi(server);
  });
  after(() => server?.dispose());

  const signal = (name: string, value: unknown, signal_type?: string) => ({
    ...{ entity_type: 'span', entity_id: randomUUID(), name, value },
    ...(signal_type && { signal_type }),
  });

  async function sent(signals: readonly object[]): Promise<any[]> {
    const answer = await api.request('POST', '/signals/bulk', { signals });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  it('become scores, texts by the type that is stated or the definition that is there', async () => {
    const stored = await sent([
      signal('ok', 'true', 'boolean'),
      signal('old', 'false', 'numerical'),
      signal('rate', '0.5', 'numerical'),
      signal('rate', 1),
      signal('rate', '2'),
      signal('rate', 'true', 'boolean'),
      signal('tone', 'calm', 'categorical'),
      signal('tone', 'true', 'boolean'),
      signal('size', '5', 'categorical'),
      signal('plain', '7'),
      signal('ok', ' 0 '),
    ]);
    expect(stored.map(({ name, kind, value }) => [name, kind, value])).to.deep.equal([
      ['ok', 'boolean', true],
      ['old', 'boolean', false],
      ['rate', 'numeric', 0.5],
      ['rate', 'numeric', 1],
      ['rate', 'numeric', 2],
      ['rate', 'numeric', 1],
      ['tone', 'categorical', 'calm'],
      ['tone', 'categorical', 'true'],
      ['size', 'categorical', '5'],
      ['plain', 'categorical', '7'],
      ['ok', 'boolean', false],
    ]);
    for (const { id, source, author } of stored) {
      expect([source, author]).to.deep.equal(['sdk', null]);
      expect((await api.get(id)).status).to.equal(200);
    }
  });

  it('replace each other, and scores of the same key, when they are sent again', async () => {
    const first = signal('again', 'true', 'boolean');
    const [stored] = await sent([first]);
    const [{ id }] = await api.post(score({ entity_id: first.entity_id, name: 'again', value: false }));
    expect(id).to.equal(stored.id);
    const one = await server.request('POST', '/signals/', { body: first });
    expect(one.status, one.text).to.equal(200);
    expect(one.json).to.deep.equal([(await api.get(id)).json]);
    expect(one.json[0].value).to.equal(true);
  });

  it('are stored all or none, and each issue is named', async () => {
    await sent([signal('level', '1', 'numerical')]);
    const good = signal('level', '2');
    const issues = await api.refused(
      { signals: [good, signal('level', 'high'), signal('level', '1e999'), { ...good, entity_type: 'song' }] },
      'POST',
      '/signals/bulk',
    );
    expect(issues).to.have.all.keys('/signals/1/value', '/signals/2/value', '/signals/3/entity_type');
    expect(await api.list(`?entity_id=${good.entity_id}`)).to.deep.equal([]);
    for (const body of [{}, [], { signals: {} }, { signals: Array(1001).fill(good) }])
      expect(Object.keys(await api.refused(body, 'POST', '/signals/bulk'))[0]).to.match(/^(\/signals)?$/);
    expect(await api.refused([good], 'POST', '/signals')).to.have.all.keys('');
    expect(await api.refused({ ...good, value: null }, 'POST', '/signals')).to.have.all.keys('/value');
  });
});
