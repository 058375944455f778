import { availableParallelism, loadavg } from 'node:os';
import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from '../experiments/experiment-api.js';

const AT_ONCE = 1_000;

/** A comparison of so many results on either side, which may take two seconds of processor time, however few they are. */
export function largeComparison(rows: number): void {
  describe(`a comparison of 2 × ${rows} results @slow`, function () {
    this.timeout(600_000);
    compare(rows);
  });
}

function compare(count: number): void {
  let api: ExperimentApi;
  before(async () => {
    // In this process, whose processor time is measured.
    api = await experimentApi({});
  });
  after(() => api?.dispose());

  async function finished(name: string, scores: (row: number) => object) {
    const made = await api.create('large', { name });
    for (let from = 0; from < count; from += AT_ONCE) {
      const results = Array.from({ length: AT_ONCE }, (_, index) => {
        const row = from + index;
        return { row_id: `r${row}`, output_data: `${name} ${row}`, scores: scores(row) };
      });
      await api.ok('POST', `~/${made.id}/results`, results);
    }
    return api.ok('POST', `~/${made.id}:finish`);
  }

  it('takes at most two seconds of the server', async () => {
    await api.ok('POST', '/v1/datasets', { name: 'large' });
    const rows = Array.from({ length: count }, (_, row) => ({ id: `r${row}`, language: row % 3 === 0 ? 'de' : 'en' }));
    await api.ok('POST', '/v1/datasets/large/versions', { rows });
    const baseline = await finished('before', (row) => ({ correct: row % 10 > 1, rate: (row * 7919) % 1_000 }));
    const candidate = await finished('after', (row) => ({ correct: row % 11 > 1, rate: (row * 7919) % 997 }));
    const metrics = [
      { name: 'correct', rule: 'no_regression' },
      { name: 'rate', rule: 'not_worse', margin: '5%' },
      { name: 'duration_ms', rule: 'report' },
      { name: 'error', rule: 'report' },
    ];
    const body = { candidate: candidate.id, baseline: baseline.id, metrics, slices: ['language'] };
    const path = `/projects/${api.server.projectId}/comparisons`;
    // The least of a few rounds: of what else the machine does, processor time tells nothing, but feels it.
    let seconds = Infinity;
    for (let round = 0; round < 4; round += 1) {
      const before = process.cpuUsage();
      const comparison = await api.ok('POST', path, body);
      const { user, system } = process.cpuUsage(before);
      seconds = Math.min(seconds, (user + system) / 1e6);
      expect(comparison.metrics.map(({ rows: compared }: any) => compared)).to.deep.equal([count, count, 0, count]);
    }
    // Beside other work, the same instructions take up to twice the processor time.
    const isBusy = (loadavg()[0] ?? 0) > availableParallelism();
    expect(seconds).to.be.below(isBusy ? 4 : 2);
  });
}
