import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

describe('experiments of the Python SDK, from clients that mean harm', () => {
  let api: ExperimentApi;
  let dataset: { readonly id: string };

  before(async () => {
    api = await experimentApi();
    dataset = await api.dataset('hostile', 3);
  });
  after(() => api?.dispose());

  const create = (name: string): Promise<any> => api.ok('POST', '/v1/evals', { dataset_id: dataset.id, name });
  const post = (id: string, ...results: object[]) => api.call('POST', `/v1/evals/${id}/results`, { results });

  it('read what scorers found in little time, however it is written', async () => {
    const { id } = await create('slow');
    const [result] = (await post(id, { row_id: 'r1', result: 1 })).json;
    const scorer = await api.ok('POST', `/v1/evals/${id}/scorers`, { name: 'slow' });
    for (const score_value of [`"${'\\"'.repeat(131_000)}`, `"${'\\\n"'.repeat(87_000)}`, '"\\'.repeat(131_000)]) {
      const began = performance.now();
      const path = `/v1/evals/${id}/scorers/${scorer.id}/scores`;
      const { status } = await api.call('POST', path, [{ eval_result_id: result.id, score_value, score_type: 'json' }]);
      expect(status).to.be.oneOf([200, 422]);
      expect(performance.now() - began).to.be.below(5_000);
    }
  });
});
