import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { send, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { completion, feedbackApi } from '../feedback/feedback-api.js';
import { promptApi, secondProject } from '../prompts/prompt-api.js';
import { shown, Visitor } from './linked-prompt.js';

describe('feedback links for spans', () => {
  let server: TestServer;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
  });
  after(() => server?.dispose());

  /** Spans that name no prompt. */
  async function spans(count: number, more: object = {}): Promise<string[]> {
    const sent = Array.from({ length: count }, (_, index) => ({
      ...completion('none', { attributes: {}, kind: 'tool', output_data: `Output ${index}` }),
      ...more,
    }));
    expect((await feedbackApi(server).spans(sent)).status).to.be.within(200, 204);
    return sent.map(({ id }) => id);
  }
  async function link(body: object) {
    const answer = await server.request('POST', '/feedback-links', { body });
    expect(answer.status, answer.text).to.equal(200);
    document.check('POST', '/feedback-links', answer);
    return answer.json as { id: string; url: string; span_ids: string[] };
  }

  it('show them in their order, and take reviews that are listed and shown with the span', async () => {
    const [first = '', second = ''] = await spans(2);
    const made = await link({ span_ids: [second, first, second], link_type: 'span' });
    expect(made).to.deep.include({ span_ids: [second, first], prompt_slug: null, link_type: 'span' });
    const visitor = new Visitor(made.url);
    const page = await visitor.get();
    expect([page.status, shown(page)]).to.deep.equal([200, second]);
    expect(page.text).to.include('Output 1').and.include('1 of 2');
    const review = { completion_id: first, thumbs_up: false, reason: 'wrong', reviewer_name: 'Ann' };
    const posted = await visitor.postJson(review);
    expect(posted.status, posted.text).to.equal(200);
    await visitor.postJson({ completion_id: second, thumbs_up: true, reviewer_name: 'Ann' });
    const listed = await server.request('GET', `/feedback-links/${made.id}/feedback?include=completion&sort_order=asc`);
    document.check('GET', `/feedback-links/${made.id}/feedback`, listed);
    expect(listed.json.total).to.equal(2);
    expect(listed.json.feedback[0]).to.include({ completion_id: first, reason: 'wrong', prompt_id: null });
    expect(listed.json.feedback[0].completion.output_data).to.equal('Output 0');
    expect(listed.json.feedback[0].created_by.name).to.equal('Ann');
    const { json } = await feedbackApi(server).unified('span', first);
    expect(json.items[0]).to.include({ thumbs_up: false, reason: 'wrong' });
    const all = (await server.request('GET', '/feedback-links')).json;
    expect(all[0]).to.deep.include({ id: made.id, span_ids: [second, first], reviewer_count: 1 });
    expect((await server.request('GET', `/feedback-links/${made.id}/feedback?version=1`)).status).to.equal(422);
  });

  it('reach no other span, and none that is deleted', async () => {
    const [mine = '', other = ''] = await spans(2);
    const { url, id } = await link({ span_ids: [mine] });
    const visitor = new Visitor(url);
    const refused = await visitor.postJson({ completion_id: other, thumbs_up: true, reviewer_name: 'Ann' });
    expect(refused.status).to.equal(422);
    const page = await visitor.get(`?completion=${other}`);
    expect(page.text).to.not.include('Output 1');
    expect((await server.request('DELETE', `/spans/${mine}`)).status).to.equal(204);
    const empty = await new Visitor(url).get();
    expect(empty.text).to.include('Nothing to review yet');
    expect((await send(url, 'GET', { key: null })).status).to.equal(200);
    expect((await server.request('DELETE', `/feedback-links/${id}`)).status).to.equal(204);
    expect((await new Visitor(url).get()).status).to.equal(404);
  });

  it('of a span that names a prompt give feedback on that prompt', async () => {
    const slug = `p-${randomUUID()}`;
    await promptApi(server).ensure(slug, { content: 'Help.' });
    const [id = ''] = await spans(1, { attributes: { task: slug } });
    const { url } = await link({ span_ids: [id] });
    await new Visitor(url).postJson({ completion_id: id, thumbs_up: true, reviewer_name: 'Ben' });
    const { json } = await server.request('GET', `/projects/${server.projectId}/prompts/${slug}/feedback`);
    expect(json.feedback.map(({ completion_id }: { completion_id: string }) => completion_id)).to.deep.equal([id]);
  });

  it('are refused for spans that are not stored, for too many, and beside a prompt', async () => {
    const [id = ''] = await spans(1);
    const issues = async (body: object, key = server.key) => {
      const { status, json } = await server.request('POST', '/feedback-links', { body, key });
      return [status, ...(json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)];
    };
    expect(await issues({ span_ids: [id, randomUUID()] })).to.deep.equal([422, '/span_ids/1']);
    expect(await issues({ span_ids: [] })).to.deep.equal([422, '/span_ids']);
    expect(await issues({ span_ids: Array(21).fill(id) })).to.deep.equal([422, '/span_ids']);
    expect(await issues({ span_ids: [id], prompt_slug: 'any' })).to.deep.equal([422, '/span_ids']);
    expect(await issues({ span_ids: [id], link_type: 'prompt_completion' })).to.deep.equal([422, '/link_type']);
    expect(await issues({})).to.deep.equal([422, '/prompt_slug']);
    expect(await issues({ span_ids: [id] }, secondProject(server).key)).to.deep.equal([422, '/span_ids/0']);
  });
});
