import { expect } from 'chai';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';
import { answer, passing } from './model-endpoint.js';

describe('judges of many projects', function () {
  this.timeout(90_000);
  let bench: JudgeBench;
  let apis: JudgeApi[];
  let judges: Json[];
  before(async () => {
    bench = await JudgeBench.boot({}, { limits: { judgeQueue: 20 } });
    const others: JudgeApi[] = [];
    for (const name of ['one', 'two', 'three', 'four']) others.push(bench.project(name));
    apis = [bench.api, ...others];
    judges = await Promise.all(apis.map((api) => api.create()));
  });
  after(() => bench.dispose());

  const each = <T>(work: (api: JudgeApi, judge: Json) => Promise<T>) =>
    Promise.all(apis.map((api, index) => work(api, judges[index] ?? {})));

  it('evaluate what arrives in each, and nothing of another', async () => {
    for (let round = 0; round < 3; round += 1)
      await each(async (api, judge) => api.until(judge, await api.postOne(), 'evaluated', 30_000));
    const [api, judge] = [apis[2] as JudgeApi, judges[2] ?? {}];
    await api.until(judge, await api.postOne(), 'evaluated', 30_000);
    const counts = await each(async (project, of) => (await project.evaluations(of)).length);
    expect(counts).to.deep.equal([3, 3, 4, 3, 3]);
  });

  it('have room in the queue although one has filled it, and take turns', async () => {
    let open = false;
    bench.endpoint.reset(() => answer(passing, open ? 0 : 1_000));
    await bench.api.post(...Array.from({ length: 100 }, () => finished()));
    const [full, own] = [judges[0] ?? {}, judges[1] ?? {}];
    await eventually(
      () => bench.api.runs(full),
      (runs) => runs.length >= 18,
      20_000,
    );
    const api = apis[1] as JudgeApi;
    const asked = bench.endpoint.asked.length;
    await api.until(own, await api.postOne(), 'evaluated', 30_000);
    expect(bench.endpoint.asked.length - asked, 'calls until then').to.be.lessThan(60);
    const [named] = await api.evaluations(own);
    await api.expect(202, 'POST', `judges/${own['id']}:run`, { span_ids: [named?.['span_id']] });
    open = true;
    await eventually(
      () => bench.api.evaluations(full),
      (found) => found.length === 103,
      60_000,
    );
  });
});
