import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CheckedApi, span, uuid } from '../harness/checked-api.js';
import { blocks, chapter, run } from './commands.js';

const DAY = 86_400_000;

describe('questions of the manual', function () {
  this.timeout(60_000);
  let api: CheckedApi;
  before(async () => {
    api = await CheckedApi.boot({ RETENTION_INTERVAL_SECONDS: '1' });
    const at = (days: number) => new Date(Date.now() - days * DAY).toISOString();
    const attributes = { provider: 'openai', model: 'gpt-4o' };
    await api.post('spans', [
      span(1, { started_at: at(100) }),
      span(2, { started_at: at(91) }),
      span(3, { started_at: at(1), kind: 'llm', cost: 0.25, attributes }),
      span(4, { started_at: at(1), kind: 'llm', cost: 0.5, attributes }),
    ]);
  });
  after(() => api.dispose());

  const [retention = '', costs = ''] = blocks(chapter('questions'));

  it('sum up costs by day and model as it is written', async () => {
    const day = new Date(Date.now() - DAY).toISOString().slice(0, 10);
    expect(await run(costs, api.server)).to.match(new RegExp(`${day} gpt-4o.*0\\.75`));
  });

  it('keep what is not older than 90 days as it is written', async () => {
    await run(retention, api.server);
    const ids = async () => (await api.ids('spans')).sort();
    const until = performance.now() + 120_000;
    while ((await ids()).length > 2 && performance.now() < until) await sleep(50);
    expect(await ids()).to.deep.equal([uuid(3), uuid(4)]);
  });
});
