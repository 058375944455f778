import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: score spans, traces and sessions', () => {
  it('works as it is written', async () => {
    const server = await sharedServer();
    try {
      const trace = '0199a1b2-0000-7000-8000-000000000001';
      const session_id = '0199a1b2-0000-7000-8000-000000000002';
      const span = { trace_id: trace, session_id, name: 'answer question', started_at: new Date().toISOString() };
      await server.request('POST', '/spans', { body: [span] });
      const [store = '', signals = '', spans = '', choices = '', find = '', lists = '', figures = '', define = ''] =
        blocks(chapter('scores'));
      const [[one], many] = await answersOf(store, server);
      expect(one).to.include({ entity_type: 'trace', name: 'helpful', kind: 'boolean', value: true });
      expect(many.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['numeric', 'categorical']);
      for (const found of await answersOf(lists, server)) expect(found).to.have.length(1);
      const [charted, grouped, moods] = await answersOf(figures, server);
      expect(charted.totals).to.deep.include({ count: 1 });
      expect(charted.totals['scores.correctness']).to.include({ count: 1, mean: 0.8 });
      expect(grouped.groups[0]).to.include({ value: true });
      expect(moods.values).to.deep.equal([{ value: 'calm', count: 1 }]);
      const definitions = await answersOf(define, server);
      expect(definitions[0]).to.include({ name: 'correctness', max: 1, direction: 'higher' });
      expect(definitions[1].length).to.be.at.least(3);
      const [[resolved, budget]] = await answersOf(signals, server);
      expect([resolved.value, budget.value]).to.deep.equal([true, 0.85]);
      const [, chosen] = await answersOf(spans, server);
      expect(chosen).to.have.length(1);
      const [choice, found] = await answersOf(choices, server);
      expect([choice.test_status, found.length]).to.deep.equal(['running', 1]);
      const [ofTrace, low, mood] = await answersOf(find, server);
      expect(ofTrace).to.have.length(8);
      expect(low).to.have.length(1);
      expect(mood).to.include({ name: 'mood', value: 'calm' });
    } finally {
      await server.dispose();
    }
  });
});
