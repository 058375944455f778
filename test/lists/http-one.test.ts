import { expect } from 'chai';
import { CheckedApi, listNames, span, uuid, type ListName } from '../harness/checked-api.js';
import { ApiDocument } from '../harness/api-document.js';

describe('one span, trace or session by its id', () => {
  let api: CheckedApi;
  let document: ApiDocument;

  const ids: Record<ListName, string> = { spans: uuid(1), traces: uuid(1_000_001), sessions: uuid(2_000_001) };
  const get = async (path: string, key?: string) => {
    const response = await api.server.request('GET', path, key === undefined ? {} : { key });
    document.check('GET', path.split('?')[0] ?? '', response);
    return response;
  };

  before(async () => {
    api = await CheckedApi.boot();
    document = await ApiDocument.of(api.server);
    await api.post('spans', [
      span(1, {
        session_id: ids.sessions,
        tags: { t: 'v' },
        cost: 0.000000000001,
        input_data: 'in [{"a":1}] "quoted" \n é 😀'.repeat(20_000),
        attributes: { list: [[], {}] },
      }),
      span(2, { kind: 'llm', tags: { 'spanhouse.judge': uuid(500) }, trace_tags: { 'spanhouse.judge': uuid(500) } }),
      span(3, { trace_id: uuid(1), name: 'the one of trace 1' }),
      span(3, { trace_id: uuid(2), name: 'the one of trace 2' }),
    ]);
  });
  after(() => api.dispose());

  for (const list of listNames) {
    it(`GET /${list}/{id} answers what GET /${list}?id= does`, async () => {
      const { status, text, headers } = await get(`/${list}/${ids[list]}`);
      expect(status).to.equal(200);
      const listed = await api.send('GET', list, [['id', ids[list]]]);
      expect(`[${text}]`).to.equal(listed.text);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    });

    it(`GET /${list}/{id} answers 404 for what is not there, and 422 for what is no id`, async () => {
      const { status, json } = await get(`/${list}/${uuid(99)}`);
      expect([status, json.detail]).to.deep.equal([404, `There is no ${list.slice(0, -1)} with this id`]);
      expect((await get(`/${list}/x`)).status).to.equal(422);
      expect((await get(`/${list}/${ids[list]}?limit=1`)).json.errors[0].pointer).to.equal('?limit');
    });
  }

  it("answers the server's own calls, and ids without hyphens", async () => {
    expect((await get(`/spans/${uuid(2)}`)).json.id).to.equal(uuid(2));
    expect((await get(`/traces/${uuid(1_000_002).replaceAll('-', '')}`)).json.id).to.equal(uuid(1_000_002));
  });

  it('names the traces that share the id of a span, of which `trace_id` chooses one', async () => {
    const { status, json } = await get(`/spans/${uuid(3)}`);
    expect(status).to.equal(409);
    expect(json.detail).to.contain('trace_id').and.contain(uuid(1)).and.contain(uuid(2));
    for (const trace of [1, 2])
      expect((await get(`/spans/${uuid(3)}?trace_id=${uuid(trace)}`)).json.name).to.equal(`the one of trace ${trace}`);
    expect((await get(`/spans/${uuid(3)}?trace_id=${uuid(7)}`)).status).to.equal(404);
  });

  it('sees what was written and deleted just before', async () => {
    await api.post('spans', [span(10)]);
    expect((await get(`/spans/${uuid(10)}`)).status).to.equal(200);
    expect((await get(`/traces/${uuid(1_000_010)}`)).json.span_count).to.equal(1);
    await api.server.request('DELETE', `/traces/${uuid(1_000_010)}`);
    expect((await get(`/spans/${uuid(10)}`)).status).to.equal(404);
    expect((await get(`/traces/${uuid(1_000_010)}`)).status).to.equal(404);
  });

  it('is answered to who asks for its headers alone', async () => {
    const { status, text } = await api.server.request('HEAD', `/spans/${ids.spans}`);
    expect([status, text]).to.deep.equal([200, '']);
  });
});
