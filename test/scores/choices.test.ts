import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { scoreApi, type ScoreApi } from './score-api.js';

describe('choices of A/B tests', () => {
  let server: TestServer;
  let api: ScoreApi;
  before(async () => {
    server = await sharedServer();
    api = await scoreApi(server);
  });
  after(() => server?.dispose());

  const choice = (change: object = {}) => ({
    ...{
      entity_type: 'span',
      entity_id: randomUUID(),
      choice_name: 'model',
      variant_key: 'new',
      variant_value: 'gpt-5',
    },
    ...{ variants: { control: 'gpt-4o', new: 'gpt-5' }, weights: { control: 0.5, new: 0.5 }, duration_days: 14 },
    ...change,
  });
  async function choose(body: object, key?: string) {
    const answer = await api.request('POST', '/ab-choices', body, key);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  it('become categorical scores, the same one when they are sent again', async () => {
    const sent = choice();
    const first = await choose(sent);
    expect(first).to.include({ test_status: 'running' });
    expect(await choose(sent)).to.deep.equal(first);
    const { json } = await api.get(first.ab_choice_id);
    expect(json).to.deep.include({ name: 'ab.model', kind: 'categorical', value: 'new', entity_id: sent.entity_id });
    expect(json).to.deep.include({ source: 'sdk', metadata: { variant_value: 'gpt-5' } });
    const span = { id: sent.entity_id, trace_id: randomUUID(), name: 'call', started_at: 0 };
    const ab_choices = [{ ...first, choice_name: 'model', variant_key: 'new', variant_value: 'gpt-5' }];
    await api.request('POST', '/spans', [{ ...span, ab_choices }]);
    expect(await api.list(`?entity_id=${sent.entity_id}`)).to.have.length(1);
  });

  it('end with their test, which began with the first, and other projects have tests of their own', async () => {
    await choose(choice({ choice_name: 'short' }));
    const late = choice({ choice_name: 'short', duration_days: 1e-8 });
    const answer = await choose(late);
    expect(answer).to.include({ test_status: 'completed', ab_choice_id: null });
    expect(await api.list(`?entity_id=${late.entity_id}`)).to.deep.equal([]);
    const begun = choice({ choice_name: 'short' });
    expect(await choose(begun, secondProject(server).key)).to.include({ test_status: 'running' });
    expect(await choose(choice({ choice_name: 'short' }))).to.include({ test_status: 'running' });
  });

  it('are refused with every reason, and change nothing', async () => {
    const refused = (change: object) => api.refused(choice({ choice_name: 'none', ...change }), 'POST', '/ab-choices');
    expect(await refused({ variant_key: 'other', weights: { control: 1 } })).to.have.all.keys(
      '/variant_key',
      '/weights',
    );
    expect(await refused({ duration_days: 0, entity_id: 'x', choice_name: '' })).to.have.all.keys(
      ...['/duration_days', '/entity_id', '/choice_name'],
    );
    expect(await refused({ entity_id: '00000000-0000-0000-0000-000000000000' })).to.have.all.keys('/entity_id');
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, key) => [`v${key}`, 'x']));
    expect(await refused({ variants: many, weights: null })).to.have.keys('/variants');
    expect((await api.definition('ab.none')).status).to.equal(404);
    await api.define('ab.none', { kind: 'numeric' });
    expect(await refused({})).to.have.all.keys('/variant_key');
  });
});
