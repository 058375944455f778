import { expect } from 'chai';
import { bootJudges, finished, type JudgeBench } from './judge-api.js';
import { answer, failing } from './model-endpoint.js';

describe('judges that run by themselves', () => {
  let bench: JudgeBench;
  before(async () => {
    bench = await bootJudges();
  });
  after(() => bench.dispose());
  beforeEach(() => bench.endpoint.reset());

  it('evaluates a new span within a second or so', async () => {
    const { api, endpoint } = bench;
    const judge = await api.create({ name: 'Prompt' });
    endpoint.reset(() => answer(failing));
    const started = Date.now();
    const span = await api.postOne();
    const { evaluation_id } = await api.evaluated(judge, span);
    console.log('ms', Date.now() - started);
    const [evaluation] = await api.evaluations(judge);
    expect(evaluation).to.deep.include({
      id: evaluation_id,
      span_id: span['id'],
      evaluation_result: false,
      evaluation_reason: failing.reason,
      confidence_score: 0.8,
      model_used: 'gpt-4o-mini',
      score: null,
    });
    expect(endpoint.asked).to.have.length(1);
    console.log(JSON.stringify(endpoint.asked[0]?.body, null, 1));
    console.log(await api.callsOf(judge));
    expect(finished).to.be.a('function');
  });
});
