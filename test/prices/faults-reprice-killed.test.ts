import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Programs } from '../harness/programs.js';
import { call, priceApi } from './price-api.js';

describe('recalculating stored costs when the program is killed', () => {
  let programs: Programs;
  before(async () => {
    programs = await Programs.make();
  });
  after(() => programs.dispose());

  async function start() {
    const program = await programs.start();
    return { program, api: priceApi(program) };
  }

  it('goes on after the next start, and every figure is exact', async () => {
    const first = await start();
    await first.api.put('acme', 'one', { input_per_million: 1, output_per_million: 0 });
    const traces = Array.from({ length: 6 }, () => randomUUID());
    for (const trace of traces) {
      const spans = Array.from({ length: 1000 }, (_, index) =>
        call(trace, { started_at: 1_770_000_000 + index, ...(index === 0 ? { cost: 0.5 } : {}) }),
      );
      await first.api.post(spans);
    }
    await first.api.put('acme', 'one', { input_per_million: 2, output_per_million: 0 });
    const { id } = (await first.api.reprice()).json;
    let before = (await first.api.job(id)).json;
    while (before.status !== 'done' && before.examined < 1000) before = (await first.api.job(id)).json;
    await first.program.destroy();
    expect(before.status, 'the kill came in the middle').to.equal('running');

    const second = await start();
    const after = await second.api.ended(id);
    expect(after).to.include({ status: 'done', total: 5994, examined: 5994, error: null });
    for (const trace of traces) {
      expect(await second.api.traceOf(trace)).to.include({ span_count: 1000, cost: 1998.5 });
      const spans = (await second.api.request('GET', `/spans?trace_id=${trace}&fields=cost`)).json;
      expect(spans.filter(({ cost }: any) => cost === 2)).to.have.length(999);
    }
    second.program.signal('SIGTERM');
    await second.program.ended;
  }).timeout(120_000);
});
