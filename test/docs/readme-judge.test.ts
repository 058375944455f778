import { expect } from 'chai';
import { JudgeBench } from '../judges/judge-api.js';
import { answersOf, blocks, chapter, section } from './commands.js';

describe('README: first judge', () => {
  it('is in the manual, too', () => {
    expect(blocks(chapter('judges'))[0]).to.equal(section('judge'));
  });

  it('works as it is written, and so does that of traces', async () => {
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

      const [, { evaluations: ofTraces }, why, again] = await answersOf(blocks(chapter('judges'))[1] ?? '', server);
      expect(ofTraces).to.have.length(1);
      expect(ofTraces[0]).to.include({ subject: 'trace', subject_id: why.subject_id, span_id: why.span_id });
      expect(why).to.include({ answer: 'evaluated' });
      expect(again.runs[0]).to.include({ subject_id: why.subject_id });
      expect(endpoint.asked.filter(({ last }) => last.includes('out for delivery'))).to.not.deep.equal([]);
    } finally {
      await bench.dispose();
    }
  }).timeout(60_000);
});
