import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { JudgeBench, type Json } from './judge-api.js';

/** Tags of the server's own calls, with what they are said to be. */
const CALLS: readonly (readonly [tags: Json, answer: string, what: string])[] = [
  [{ 'spanhouse.judge': randomUUID() }, 'judge_call', 'a call of a judge'],
  [{ 'spanhouse.playground': randomUUID() }, 'own_call', 'a call of the playground'],
  [{ 'spanhouse.optimization': randomUUID() }, 'own_call', 'a call of an optimization'],
  [
    { 'spanhouse.calibration': randomUUID(), 'spanhouse.judge': randomUUID() },
    'own_call',
    'a call of a calibration trial',
  ],
];

describe('calls that the server made itself', () => {
  let bench: JudgeBench;

  before(async () => {
    bench = await JudgeBench.boot();
  });
  after(() => bench.dispose());

  for (const [tags, answer, what] of CALLS)
    it(`are said to be ${what}, wherever a judge is to evaluate one`, async () => {
      const { api } = bench;
      const judge = await api.create({ sample_rate: 0 });
      const { id } = await api.postOne({ tags });
      const detail = `is ${what}; such spans are never evaluated`;
      expect(await api.refused('POST', `judges/${judge['id']}:run`, { span_ids: [id] })).to.deep.equal({
        '/span_ids/0': detail,
      });
      const draft = { name: 'Draft', evaluation_type: 'binary', prompt: 'Is it polite?', try: [id] };
      expect(await api.refused('POST', 'judges:preview', draft)).to.deep.equal({ '/try/0': detail });
      const explained = await api.explain(judge, { id });
      expect(explained).to.include({ answer, explanation: `The span ${detail}.` });
    });

  it('are said to be of the playground where it really made one', async () => {
    const { api } = bench;
    const judge = await api.create({ sample_rate: 0 });
    const { span_id } = await api.expect(200, 'POST', 'playground:run', {
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(await api.refused('POST', `judges/${judge['id']}:run`, { span_ids: [span_id] })).to.deep.equal({
      '/span_ids/0': 'is a call of the playground; such spans are never evaluated',
    });
  });
});
