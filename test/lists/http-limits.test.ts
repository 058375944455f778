import { expect } from 'chai';
import { CheckedApi, listNames, span, uuid } from '../harness/checked-api.js';

describe('the largest result of a list', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot({ READ_MAX_RESULT_MB: '1' });
  });
  after(() => api.dispose());

  it('is one of the bytes that are answered, escapes and all', async () => {
    // Stored, all four together are below the limit; as JSON each control character takes six bytes.
    const controls = '\u0001'.repeat(200_000);
    const tags = { tag: controls };
    const spans = [1, 2, 3, 4].map((number) =>
      span(number, {
        session_id: uuid(2_000_000 + number),
        input_data: controls,
        trace_tags: tags,
        session_tags: tags,
      }),
    );
    for (const some of spans) await api.post('spans', [some]);
    for (const list of listNames) {
      const { status, json } = await api.send('GET', list, `fields=${list === 'spans' ? 'input_data' : 'tags'}`);
      expect(status, list).to.equal(503);
      expect(json, list)
        .to.have.property('detail')
        .that.matches(/result size limit/);
      expect(await api.get(list, 'fields=id')).to.have.length(4);
    }
  });
});
