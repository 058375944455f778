import { expect } from 'chai';
import { JudgeBench } from '../judges/judge-api.js';
import { answersOf, blocks, chapter, section } from './commands.js';

describe('README: first judge', () => {
  it('is in the manual, too', () => {
    expect(blocks(chapter('judges'))[0]).to.equal(section('judge'));
  });

  it('works as it is written', async () => {
    const bench = await JudgeBench.boot();
    const { server, endpoint } = bench;
    try {
      const [[span], evaluations, explanation, run] = await answersOf(section('judge'), server);
      expect(evaluations).to.include({ span_id: span.id });
      expect(evaluations.evaluations).to.have.length(1);
      expect(evaluations.evaluations[0]).to.include({ judge_name: 'Answers the question', evaluation_result: true });
      expect(explanation).to.include({ answer: 'evaluated' });
      expect(run.queued, 'the call of the judge is no span to be judged').to.equal(1);
      expect(endpoint.asked[0]?.body.messages[0].content).to.contain('Does the output answer the question');
    } finally {
      await bench.dispose();
    }
  }).timeout(30_000);
});
