import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, secondProject } from '../prompts/prompt-api.js';
import { completion, feedbackApi, withDatabase } from './feedback-api.js';

describe('feedback on spans', () => {
  let server: TestServer;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
  });
  after(() => server?.dispose());

  const pathOf = (id: string) => `/projects/${server.projectId}/spans/${id}/feedback`;
  async function give(id: string, body: object) {
    const answer = await server.request('POST', pathOf(id), { body });
    expect(answer.status, answer.text).to.equal(200);
    document.check('POST', pathOf(id), answer);
    return answer.json;
  }
  async function span(more: Record<string, unknown> = {}) {
    const sent = { ...completion('none'), attributes: {}, session_id: randomUUID(), ...more };
    expect((await server.request('POST', '/spans', { body: [sent] })).status).to.equal(200);
    return sent;
  }

  it('that name no prompt is kept, replaced, and shown with the span, its trace and its session', async () => {
    const { id, trace_id, session_id } = await span();
    const first = await give(id, { thumbs_up: false, reason: 'wrong', expected_output: 'right', metadata: { a: 1 } });
    expect(first).to.deep.include({ completion_id: id, prompt_id: null, reason: 'wrong', metadata: { a: 1 } });
    const again = await give(id, { thumbs_up: true });
    expect(again).to.include({ id: first.id, thumbs_up: true, reason: null, created_at: first.created_at });
    for (const [type, of] of Object.entries({ span: id, trace: trace_id, session: session_id })) {
      const { json } = await feedbackApi(server).unified(type, of);
      expect(json.summary).to.include({ total: 1, human_feedback_count: 1 });
      expect(json.items[0]).to.include({ id: first.id, span_id: id, thumbs_up: true });
    }
  });

  it('that name a prompt is that of a completion of it', async () => {
    await promptApi(server).ensure('named', { content: 'Help.' });
    const { id } = await span({ attributes: { task: 'named' } });
    const given = await give(id, { thumbs_up: true });
    const { json } = await server.request('GET', `/projects/${server.projectId}/prompts/named/feedback`);
    expect(json.feedback.map((each: { id: string }) => each.id)).to.deep.equal([given.id]);
    const same = await feedbackApi(server).give('named', id, { thumbs_up: false });
    expect(same.json).to.include({ id: given.id, thumbs_up: false, prompt_id: given.prompt_id });
  });

  it('stays that of a prompt for which it was given', async () => {
    await promptApi(server).ensure('stated', { content: 'Help.' });
    const { id } = await span();
    const { json } = await feedbackApi(server).give('stated', id, { thumbs_up: true });
    expect(await give(id, { thumbs_up: false })).to.include({ id: json.id, prompt_id: json.prompt_id });
  });

  it("on a judge's evaluation corrects the judge", async () => {
    const project = `/projects/${server.projectId}`;
    const body = { name: 'Kind', evaluation_type: 'binary', prompt: 'Is it kind?', sample_rate: 0 };
    const judge = (await server.request('POST', `${project}/judges`, { body })).json;
    const { id } = await span();
    const evaluation = { span_id: id, evaluation_result: true };
    await server.request('POST', `${project}/judges/${judge.id}/evaluations`, { body: evaluation });
    const given = await give(id, { judge_was_right: false, judge_id: judge.id });
    expect(given).to.include({ judge_id: judge.id, judge_was_right: false }).and.not.include({ prompt_id: null });
    const { json } = await server.request('GET', `${project}/prompts/${judge.task_slug}/feedback`);
    expect(json.total).to.equal(1);
  });

  it('is refused for spans and judges that are not there, and with what does not fit', async () => {
    const { id } = await span();
    const status = async (of: string, body: object, key = server.key) =>
      (await server.request('POST', pathOf(of), { body, key })).status;
    expect(await status(randomUUID(), { thumbs_up: true })).to.equal(404);
    expect(await status(id, { thumbs_up: true, judge_id: randomUUID() })).to.equal(404);
    expect(await status(id, { thumbs_up: 'yes' })).to.equal(422);
    expect(await status(id, {})).to.equal(422);
    expect(await status('x', { thumbs_up: true })).to.equal(422);
    const other = secondProject(server);
    expect(await status(id, { thumbs_up: true }, other.key)).to.equal(403);
    const foreign = await server.request('POST', `/projects/${other.projectId}/spans/${id}/feedback`, {
      ...{ body: { thumbs_up: true }, key: other.key },
    });
    expect(foreign.status).to.equal(404);
    expect((await feedbackApi(server).unified('span', id)).json.summary.total).to.equal(0);
  });

  it('goes with the span', async () => {
    const rows = (id: string) =>
      withDatabase(server, (db) => db.prepare('SELECT 1 FROM feedback WHERE completion_id = ?').all(id).length);
    const { id } = await span();
    await give(id, { thumbs_up: true, reason: 'gone' });
    expect(rows(id)).to.equal(1);
    expect((await server.request('DELETE', `/spans/${id}`)).status).to.equal(204);
    expect(rows(id)).to.equal(0);
  });
});
