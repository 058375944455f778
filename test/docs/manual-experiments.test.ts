import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import { JudgeBench } from '../judges/judge-api.js';
import { answer, passing } from '../judges/model-endpoint.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: run experiments on a dataset', () => {
  it('works as it is written', async () => {
    const server = await sharedServer();
    try {
      const [run = '', , , resume = '', list = ''] = blocks(chapter('experiments'));
      const answers = await answersOf(run, server);
      const [results, finished] = answers.slice(-2);
      expect(results.map(({ row_id }: { row_id: string }) => row_id)).to.deep.equal(['t1', 't2']);
      expect(finished).to.include({ status: 'finished', name: 'shorter answers' });
      expect(finished.figures).to.include({ results: 2, errors: 1 });
      const env = { EXPERIMENT: finished.id };
      const [missing, errors] = await answersOf(resume, server, env);
      expect(missing).to.include({ total: 0 });
      expect(errors).to.include({ total: 1 });
      const [found, pinned, tagged] = await answersOf(list, server, env);
      expect(found).to.include({ total: 1 });
      expect(pinned).to.include({ tag: 'baseline', experiment_id: finished.id });
      expect(tagged.experiments[0].tags).to.deep.equal(['baseline']);
    } finally {
      await server.dispose();
    }
  });

  it('has the server run two prompts, a judge evaluate them, and compares them, as it is written', async () => {
    const bench = await JudgeBench.boot();
    const { api, endpoint } = bench;
    try {
      endpoint.reset(({ body }) =>
        JSON.stringify(body).includes('You are a judge') ? answer(passing) : { do: 'answer', content: 'On its way.' },
      );
      const rows = [
        { id: 't1', question: 'Where is my order?' },
        { id: 't2', question: 'May I return it?' },
      ];
      await api.expect(201, 'POST', '/v1/datasets', { name: 'support/tickets' });
      await api.expect(200, 'POST', '/v1/datasets/support/tickets/versions', { rows });
      const [, ask = '', judge = ''] = blocks(chapter('experiments'));
      const [compare = ''] = blocks(chapter('comparisons'));
      const answers = await answersOf([ask, judge, compare].join('\n'), bench.server);
      const [, , estimate, baseline, candidate, judged, compared] = answers;
      expect(estimate).to.include({ prompt_version: 2, rows: 2, calls: 2 });
      for (const ended of [baseline, candidate]) {
        expect(ended.status).to.equal('finished');
        expect(ended.figures).to.include({ results: 2, errors: 0 });
      }
      expect(baseline.tags).to.deep.equal(['baseline']);
      expect(judged).to.include({ queued: 2, left: 0, skipped: 0 });
      expect(compared).to.include({ rows: 2, verdict: 'undecided' });
    } finally {
      await bench.dispose();
    }
  });
});
