import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bootServer } from '../harness/server.js';
import { eventually, finished, JudgeApi, JudgeBench } from './judge-api.js';
import { answer, ModelEndpoint, passing } from './model-endpoint.js';

describe('judges and how much is configured', () => {
  it('judge nothing that came while no endpoint was configured', async () => {
    const first = await bootServer();
    const api = new JudgeApi(first);
    const judge = await api.create();
    const span = await api.postOne();
    expect(await api.explain(judge, span)).to.include({ answer: 'no_endpoint' });
    await first.stop();
    const endpoint = await ModelEndpoint.start();
    const second = await bootServer({
      dataDir: first.dataDir,
      env: { JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'm' },
    });
    try {
      const later = new JudgeApi(second);
      const fresh = await later.postOne();
      await later.evaluated(judge, fresh);
      expect(await later.explain(judge, span)).to.include({ answer: 'not_running_then' });
      expect(endpoint.asked).to.have.length(1);
      expect(endpoint.asked[0]?.authorization, 'without a key none is sent').to.equal(undefined);
    } finally {
      await second.dispose();
      await endpoint.stop();
    }
  });

  it('leave spans for later while the queue is full, and lose none', async () => {
    const bench = await JudgeBench.boot({ JUDGE_CONCURRENCY: '2' }, { limits: { judgeQueue: 5 } });
    const { api, endpoint } = bench;
    try {
      const judge = await api.create();
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      endpoint.reset(() => answer(passing, opened));
      const spans = await api.post(...Array.from({ length: 30 }, () => finished()));
      await eventually(
        () => api.runs(judge),
        (runs) => runs.length === 5,
      );
      await sleep(300);
      expect((await api.expect(200, 'GET', `judges/${judge['id']}/runs?limit=1`)).total).to.equal(5);
      const answers = await Promise.all(spans.map((span) => api.explain(judge, span)));
      const counts = (wanted: string) => answers.filter((found) => found['answer'] === wanted).length;
      expect([counts('pending'), counts('queued') + counts('running')]).to.deep.equal([25, 5]);
      const refused = await api.expect(429, 'POST', `judges/${judge['id']}:run`, { backfill: 10 });
      expect(refused.detail).to.contain('room for only 0 more');
      open();
      await eventually(
        () => api.evaluations(judge),
        (found) => found.length === 30,
      );
      const ids = (await api.evaluations(judge)).map(({ span_id }) => span_id as string);
      expect(ids.sort()).to.deep.equal(spans.map(({ id }) => id as string).sort());
    } finally {
      await bench.dispose();
    }
  });

  it('keep to the rate', async () => {
    const bench = await JudgeBench.boot({ JUDGE_RATE_PER_MINUTE: '600', JUDGE_CONCURRENCY: '20' });
    try {
      const judge = await bench.api.create();
      // So many that it does not matter when the first of them arrives.
      await bench.api.post(...Array.from({ length: 32 }, () => finished()));
      await eventually(
        () => bench.api.evaluations(judge),
        (found) => found.length === 32,
      );
      const times = bench.endpoint.asked.map(({ at }) => at);
      expect((times.at(-1) ?? 0) - (times[0] ?? 0), 'ms for 32 calls at 10 a second').to.be.at.least(2_800);
    } finally {
      await bench.dispose();
    }
  });

  it('cannot run when nothing names a model', async () => {
    const bench = await JudgeBench.boot({ JUDGE_LLM_MODEL: '' });
    try {
      const judge = await bench.api.create();
      expect(judge).to.include({ runnable: false });
      expect(judge['not_runnable_reason']).to.contain('JUDGE_LLM_MODEL');
      const span = await bench.api.postOne();
      const { explanation } = await bench.api.until(judge, span, 'failed');
      expect(explanation).to.contain('no model is set');
      expect(bench.endpoint.asked).to.deep.equal([]);
    } finally {
      await bench.dispose();
    }
  });
});
