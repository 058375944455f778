import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { SqliteBudgetStore } from '../../src/features/budget/store/budget-store.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { eventually, JudgeBench, type JudgeApi, type Json } from '../judges/judge-api.js';
import type { Script } from '../judges/model-endpoint.js';
import { Receiver } from '../webhooks/receiver.js';

/** Cost of a call of gpt-4o-mini with the tokens that the endpoint states. */
const CALL = 0.00021;
const ASK = { messages: [{ role: 'user', content: 'Hello' }] };
const verdict: Script = { do: 'answer', content: JSON.stringify({ reason: 'Fine.', passed: true, confidence: 1 }) };

describe('the model budget of a project', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let receiver: Receiver;
  /** How many days the clock of budgets is ahead. */
  let daysAhead = 0;

  before(async () => {
    receiver = await Receiver.start();
    bench = await JudgeBench.boot(
      { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' },
      { budgetClock: () => (Date.now() + daysAhead * 86_400_000) * 1000 },
    );
  });
  beforeEach(() => {
    daysAhead = 0;
    bench.endpoint.reset(() => verdict);
  });
  after(async () => {
    await bench.dispose();
    await receiver.stop();
  });

  const budget = (api: JudgeApi): Promise<Json> => api.expect(200, 'GET', 'model-budget');
  const limit = (api: JudgeApi, monthly_limit: number | null): Promise<Json> =>
    api.expect(200, 'PUT', 'model-budget', { monthly_limit });
  const ask = (api: JudgeApi, model = 'gpt-4o-mini'): Promise<Json> =>
    api.expect(200, 'POST', 'playground:run', { ...ASK, model });
  const told = (path: string): Json[] => receiver.at(path).map(({ text }) => JSON.parse(text) as Json);
  const tell = (api: JudgeApi, path: string) =>
    api.expect(201, 'POST', 'webhooks', {
      ...{ name: 'told', kind: 'webhook', target: receiver.url(path), events: ['budget.reached'] },
    });

  it('counts every answered call at the cost of its span, also of unknown price, and forgets nothing with spans', async () => {
    const api = bench.project('counted');
    expect(await budget(api)).to.include({ monthly_limit: null, spent: 0, calls: 0, waiting: false, updated_at: null });
    const { span_id } = await ask(api);
    await ask(api, 'nobody/knows-this');
    bench.endpoint.reset(() => ({ do: 'status', status: 400 }));
    expect((await ask(api))['failure'].code).to.equal('400');
    await api.expect(204, 'DELETE', `/spans/${span_id}`);
    const read = await budget(api);
    expect(read).to.include({ calls: 2, unpriced_calls: 1, month: new Date().toISOString().slice(0, 7) });
    expect(read['spent']).to.be.closeTo(CALL, 1e-12);
    expect(read['resets_at']).to.match(/^\d{4}-\d\d-01T00:00:00/);
  });

  it('refuses amounts that are none', async () => {
    const api = bench.project('refused');
    for (const monthly_limit of [-1, 1e10, '5', undefined])
      expect(await api.refused('PUT', 'model-budget', { monthly_limit })).to.have.key('/monthly_limit');
    expect(await budget(api)).to.include({ monthly_limit: null, updated_at: null });
  });

  it('lets evaluations wait once it is spent, says so, and goes on once it is raised', async () => {
    const api = bench.project('judged');
    await tell(api, '/judged');
    await limit(api, CALL * 1.5);
    const judge = await api.create();
    const [first, second] = [await api.postOne(), await api.postOne()];
    const spent = await eventually(
      () => budget(api),
      ({ calls }) => calls >= 2,
    );
    // Two calls are needed: the first is below the limit.
    expect(spent['spent']).to.be.closeTo(2 * CALL, 1e-12);
    expect(spent).to.include({ waiting: true });
    await api.evaluated(judge, first);
    await api.evaluated(judge, second);
    const waiting = await api.postOne();
    const explained = await api.until(judge, waiting, 'queued');
    expect(explained['explanation']).to.include('has spent its budget for model calls of this month');
    const read = await api.expect(200, 'GET', `judges/${judge['id']}`);
    expect(read).to.include({ runnable: false });
    expect(read.not_runnable_reason).to.match(
      /calls wait until [A-Z][a-z]+ 1, \d{4} \(UTC\), or until the budget is raised$/,
    );
    // What is asked for is queued, too; what somebody waits for is refused.
    await api.expect(202, 'POST', `judges/${judge['id']}:run`, { span_ids: [first['id']] });
    expect((await api.expect(409, 'POST', 'playground:run', ASK)).detail).to.include('until the budget is raised');
    const draft = { name: 'Draft', evaluation_type: 'binary', prompt: 'Is it polite?', try: true };
    expect((await api.expect(409, 'POST', 'judges:preview', draft)).detail).to.include('has spent its budget');
    const events = await receiver.came('/judged', 2);
    expect(events).to.have.length(2);
    expect(told('/judged').map(({ type, data }) => [type, data.percent, data.monthly_limit])).to.have.deep.members([
      ['budget.reached', 80, CALL * 1.5],
      ['budget.reached', 100, CALL * 1.5],
    ]);
    expect(bench.endpoint.asked).to.have.length(2);
    const other = bench.project('not concerned');
    await ask(other);
    expect(await limit(api, 100 * CALL)).to.include({ waiting: false, waiting_reason: null });
    await api.evaluated(judge, waiting);
    expect((await api.evaluations(judge)).length).to.be.at.least(3);
  });

  it('lets runs of experiments wait, also within a run, and goes on with the next month', async () => {
    const api = bench.project('run');
    await api.expect(201, 'POST', '/v1/datasets', { name: 'questions', roles: { question: 'input' } });
    const rows = Array.from({ length: 20 }, (_, index) => ({ question: `Question ${index}` }));
    await api.expect(200, 'POST', '/v1/datasets/questions/versions', { rows });
    await api.expect(200, 'POST', '/v1/tasks/asks/prompt/versions/ensure', { content: '{{question}}' });
    await limit(api, 10 * CALL);
    const { id } = await api.expect(201, 'POST', 'experiments:run', { dataset: 'questions', prompt_slug: 'asks' });
    const get = () => api.expect(200, 'GET', `experiments/${id}`);
    const waits = await eventually(get, ({ run }) => run.waiting_reason !== null);
    expect(waits).to.include({ status: 'running' });
    const { calls } = await eventually(
      () => budget(api),
      ({ calls }) => calls > 0 && bench.endpoint.underWay === 0,
    );
    // Eight are asked for at once: those under way are finished.
    expect(calls).to.be.within(10, 17);
    daysAhead = 32;
    expect(await budget(api)).to.include({ calls: 0, spent: 0, waiting: false });
    // Whoever changes a budget has all look again.
    await limit(bench.project('other'), 1);
    const ended = await eventually(get, ({ run }) => run.status === 'done');
    expect(ended['figures']).to.include({ results: 20, errors: 0 });
    expect(bench.endpoint.asked).to.have.length(20);
    expect((await budget(api))['calls']).to.equal(20 - calls);
  });

  it('tells of each threshold once in a month, and again of a budget that was raised', async () => {
    const api = bench.project('told');
    await tell(api, '/told');
    await limit(api, 5 * CALL);
    for (let call = 0; call < 4; call += 1) await ask(api);
    await receiver.came('/told', 1);
    await ask(api);
    await receiver.came('/told', 2);
    await limit(api, null);
    await limit(api, 6 * CALL);
    await receiver.came('/told', 3);
    await ask(api);
    await receiver.came('/told', 4);
    daysAhead = 32;
    await limit(api, CALL);
    await ask(api);
    await receiver.came('/told', 6);
    const said = told('/told').map(({ data }) => [data.percent, Math.round(data.monthly_limit / CALL)]);
    expect(said.slice(0, 4)).to.deep.equal([
      ...[
        [80, 5],
        [100, 5],
      ],
      ...[
        [80, 6],
        [100, 6],
      ],
    ]);
    expect(said.slice(4)).to.have.deep.members([
      [80, 1],
      [100, 1],
    ]);
    expect(told('/told')[1]?.['summary']).to.match(/^100 % of the budget .* is spent: .*Further calls wait until/);
  });

  it('stops all calls with a budget of nothing, and tells nobody', async () => {
    const api = bench.project('nothing');
    await tell(api, '/nothing');
    expect(await limit(api, 0)).to.include({ waiting: true });
    expect((await api.expect(409, 'POST', 'playground:run', ASK)).detail).to.include('allows no model calls');
    expect(receiver.at('/nothing')).to.have.length(0);
  });

  it('counts what could not be stored at first', async () => {
    const api = bench.project('unstored');
    const { add } = SqliteBudgetStore.prototype;
    let refused = 0;
    SqliteBudgetStore.prototype.add = function (...asked) {
      refused += 1;
      if (refused < 3) throw new DomainError('unavailable', 'The metadata store does not respond');
      add.apply(this, asked);
    };
    try {
      await limit(api, CALL);
      await ask(api);
      // It counts meanwhile.
      expect(await budget(api)).to.include({ calls: 1, waiting: true });
      await eventually(
        async () => refused,
        (times) => times >= 3,
      );
    } finally {
      SqliteBudgetStore.prototype.add = add;
    }
    expect(await budget(api)).to.include({ calls: 1, waiting: true });
  });

  it('goes with its project', async () => {
    const api = bench.project('gone');
    await limit(api, 1);
    await ask(api);
    const { projectId } = api.server;
    await api.expect(202, 'DELETE', `/projects/${projectId}`);
    const left = () =>
      withDatabase(bench.server, (database) =>
        ['projects WHERE id', 'model_budgets WHERE project_id', 'model_spending WHERE project_id'].map(
          (where) => database.prepare<[string], 1>(`SELECT 1 FROM ${where} = ?`).all(projectId).length,
        ),
      );
    await eventually(
      async () => left(),
      (counts) => counts.every((count) => count === 0),
    );
  });
});
