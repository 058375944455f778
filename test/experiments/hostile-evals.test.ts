import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

describe('experiments of the Python SDK, from clients that mean harm', () => {
  let api: ExperimentApi;
  let dataset: { readonly id: string };

  before(async () => {
    // A server of its own, to which harm is meant.
    api = await experimentApi({});
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

  it('keep scorers, figures and scores within bounds, and what is there can be sent again', async () => {
    const { id } = await create('many');
    const scorer = (name: string, code: string) => api.call('POST', `/v1/evals/${id}/scorers`, { name, code });
    const first = await scorer('0', 'é'.repeat(131_000));
    for (let index = 1; index < 7; index += 1)
      expect((await scorer(`${index}`, 'x'.repeat(262_000))).status).to.equal(200);
    const over = await scorer('8', 'x'.repeat(262_000));
    expect([over.status, over.json.detail]).to.deep.equal([
      409,
      'The scorers of an experiment can have at most 2097152 bytes as JSON together',
    ]);
    expect((await scorer('0', '')).json.id).to.equal(first.json.id);

    const metric = async (index: number, results: object) =>
      (await api.call('POST', `/v1/evals/${id}/eval-metrics`, { metric_name: `${index}`, results })).status;
    const large = { x: 'x'.repeat(65_000) };
    for (let index = 0; index < 16; index += 1) expect(await metric(index, large)).to.equal(200);
    expect(await metric(16, large)).to.equal(409);
    expect(await metric(0, { x: 1 })).to.equal(200);
    expect(await metric(16, large)).to.equal(200);

    const [result] = (await post(id, { row_id: 'r1', result: 1 })).json;
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_none, index) => [`s${index}`, 1])));
    const path = `/v1/evals/${id}/scorers/${first.json.id}/scores`;
    const refused = await api.call('POST', path, [{ eval_result_id: result.id, score_value: many }]);
    expect([refused.status, refused.json.errors]).to.deep.equal([
      422,
      [{ pointer: '/0/score_value', detail: 'must have at most 64 scores' }],
    ]);
  });
});
