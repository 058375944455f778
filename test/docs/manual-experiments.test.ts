import { expect } from 'chai';
import { bootServer } from '../harness/server.js';
import { eventually, JudgeBench } from '../judges/judge-api.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: try changes on a dataset', () => {
  it('works as it is written', async () => {
    const server = await bootServer();
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

  it('has the server run a prompt as it is written', async () => {
    const bench = await JudgeBench.boot();
    const { api, endpoint } = bench;
    try {
      endpoint.reset(() => ({ do: 'answer', content: 'On its way.' }));
      const rows = [
        { id: 't1', question: 'Where is my order?' },
        { id: 't2', question: 'May I return it?' },
      ];
      await api.expect(201, 'POST', '/v1/datasets', { name: 'support/tickets' });
      await api.expect(200, 'POST', '/v1/datasets/support/tickets/versions', { rows });
      await api.expect(200, 'POST', '/v1/tasks/support/prompt/versions/ensure', { content: 'Answer: {{question}}' });
      const [, ask = ''] = blocks(chapter('experiments'));
      const [estimate, started] = await answersOf(ask, bench.server);
      expect(estimate).to.include({ rows: 2, calls: 2 });
      const ended = await eventually(
        () => api.expect(200, 'GET', `experiments/${started.id}`),
        ({ status }) => status === 'finished',
      );
      expect(ended.figures).to.include({ results: 4, errors: 0 });
    } finally {
      await bench.dispose();
    }
  });
});
