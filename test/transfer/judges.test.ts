import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { finished, JudgeBench, type Json } from '../judges/judge-api.js';

describe('judges and imported spans', function () {
  this.timeout(60_000);
  let bench: JudgeBench;
  before(async () => {
    bench = await JudgeBench.boot();
  });
  after(() => bench.dispose());

  it('are not brought together, but when somebody asks for it', async () => {
    const { api, endpoint } = bench;
    await api.post(...[1, 2, 3].map(() => finished()));
    const { records } = await api.expect(200, 'GET', 'export/spans');
    const judge = await bench.make();
    // Also one that was written a moment ago: it is no news either.
    const renamed = (records as Json[]).map((record): Json => ({ ...record, id: randomUUID() as string }));
    expect(await api.expect(200, 'POST', 'import/spans', renamed)).to.deep.equal({ stored: 3, unchanged: 0 });
    const later = await api.postOne();
    await api.evaluated(judge, later);
    expect((await api.evaluations(judge)).map(({ span_id }) => span_id as string)).to.deep.equal([later['id']]);
    expect(await api.runs(judge)).to.deep.equal([]);
    expect(endpoint.asked).to.have.length(1);
    const [imported = {}] = renamed;
    await api.expect(202, 'POST', `judges/${judge['id']}:run`, { span_ids: [imported['id']] });
    await api.evaluated(judge, imported);
  });
});
