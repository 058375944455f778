import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { storedSpan } from '../harness/span.js';
import { openStore } from '../harness/trace-store.js';
import { finished, JudgeBench, type Json } from '../judges/judge-api.js';

const marked = (id: string) => ({ attributes: { spanhouse: { experiment: { id, row_id: 'a' } } } });

describe('judges and spans of experiments', () => {
  it('evaluate none by themselves, and say why', async () => {
    const bench = await JudgeBench.boot();
    try {
      const { api, endpoint } = bench;
      const judge = await bench.make({ filters: { names: ['tried'] } });
      const id = randomUUID();
      const [of, plain] = (await api.post(finished({ name: 'tried', ...marked(id) }), finished({ name: 'tried' }))) as [
        Json,
        Json,
      ];
      await api.evaluated(judge, plain);
      const { answer, mismatches } = await api.explain(judge, of);
      expect([answer, mismatches]).to.deep.equal([
        'filtered',
        [{ filter: 'experiment_id', wanted: 'none', found: id }],
      ]);
      expect(endpoint.asked).to.have.length(1);
    } finally {
      await bench.dispose();
    }
  });

  it('find those of an experiment that their filters name', async () => {
    const opened = await openStore();
    try {
      const [project, id] = [randomUUID(), randomUUID()];
      const before = opened.store.arrivals.now();
      const spans = [storedSpan({ output_data: 'x', ...marked(id) }), storedSpan({ output_data: 'x' })];
      await opened.store.log.append({ projectId: project, spans });
      const none = { kinds: [], names: [], tags: {}, prompt_slug: null };
      const newest = async (filters: object) =>
        (await opened.store.spans.newest(project, { ...none, ...filters }, 10)).map((span) => span.id);
      expect(await newest({})).to.deep.equal([spans[1]?.id]);
      expect(await newest({ experiment_id: id })).to.deep.equal([spans[0]?.id]);
      const filter = (filters: object) => [
        { judge_id: randomUUID(), subject: 'span' as const, filters: { ...none, ...filters }, sample_rate: 1 },
      ];
      const arrived = async (filters: object) =>
        (await opened.store.arrivals.read(project, before, filter(filters), 10)).spans.map((span) => span.id);
      expect(await arrived({})).to.deep.equal([spans[1]?.id]);
      expect(await arrived({ experiment_id: id })).to.deep.equal([spans[0]?.id]);
    } finally {
      await opened.dispose();
    }
  });
});
