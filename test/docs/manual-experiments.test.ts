import { expect } from 'chai';
import { bootServer } from '../harness/server.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: try changes on a dataset', () => {
  it('works as it is written', async () => {
    const server = await bootServer();
    try {
      const [run = '', resume = '', list = ''] = blocks(chapter('experiments'));
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
});
