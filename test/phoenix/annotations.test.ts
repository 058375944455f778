import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { sharedServer } from '../harness/shared-server.js';
import type { TestServer } from '../harness/server.js';

const SPAN = '00f067aa0ba902b7';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('annotations of Phoenix', function () {
  this.timeout(180_000);
  let server: TestServer;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  const post = async (what: string, ...data: object[]) => {
    const response = await server.request('POST', `/v1/${what}_annotations?sync=true`, { body: { data } });
    document.check('POST', `/v1/${what}_annotations`, response);
    return response;
  };
  const annotation = (more: object) => ({
    ...{ name: 'correct', annotator_kind: 'LLM', identifier: 'v1', metadata: { model: 'm' } },
    ...{ result: { score: 1, label: 'yes', explanation: 'It is.' } },
    ...more,
  });

  it('become scores of spans, traces and sessions, and replace earlier ones', async () => {
    const { json } = await post('span', annotation({ span_id: SPAN }));
    expect(json.data).to.have.length(1);
    expect((await post('span', annotation({ span_id: SPAN }))).json).to.deep.equal(json);
    await post('trace', annotation({ trace_id: TRACE, annotator_kind: 'CODE' }));
    await post(
      'session',
      annotation({ session_id: 'mine', annotator_kind: 'HUMAN', name: 'tone', result: { label: 'kind' } }),
    );
    const { json: scores } = await server.request('GET', '/scores?sort_by=created_at&sort_order=asc');
    expect(scores).to.have.length(3);
    expect(scores[0]).to.deep.include({
      id: json.data[0].id,
      value: 1,
      source: 'judge',
      author: 'v1',
      comment: 'It is.',
    });
    expect(scores[0]).to.deep.include({ entity_type: 'span', metadata: { model: 'm', label: 'yes' } });
    expect(scores[1]).to.include({
      entity_type: 'trace',
      entity_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
      source: 'code',
    });
    expect(scores[2]).to.include({ entity_type: 'session', kind: 'categorical', value: 'kind', source: 'human' });
  });

  it('are refused together, each with what is wrong', async () => {
    const refused = await post(
      'span',
      annotation({ span_id: SPAN, name: 'new' }),
      annotation({ span_id: SPAN, result: {} }),
    );
    expect(refused.status).to.equal(422);
    expect(refused.json.errors).to.deep.equal([{ pointer: '/data/1/result', detail: 'must have a score or a label' }]);
    expect((await post('span', annotation({ span_id: 'x' }))).json.errors[0].pointer).to.equal('/data/0/span_id');
    const kind = await post('session', annotation({ session_id: 'mine', name: 'tone', result: { score: 2 } }));
    expect(kind.json.errors[0].pointer).to.equal('/data/0/result');
    expect((await server.request('GET', '/scores?name=new')).json).to.deep.equal([]);
  });
});
