import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { JudgeApi, type Json } from '../judges/judge-api.js';
import { completion } from './feedback-api.js';

const SLUG = 'support';

describe('ids of traces and sessions in the place of a span', () => {
  let server: TestServer;
  let api: JudgeApi;
  let judge: Json;

  before(async () => {
    server = await bootServer();
    api = new JudgeApi(server);
    await api.expect(200, 'POST', `/v1/tasks/${SLUG}/prompt/versions/ensure`, { content: 'x' });
    judge = await api.create();
  });
  after(() => server.dispose());

  const path = (id: string, slug = SLUG) => `/v1/prompts/${slug}/completions/${id}/feedback`;
  const given = (id: string) => api.expect(200, 'POST', path(id), { thumbs_up: true });
  const refused = (id: string, body: Json = { thumbs_up: true }) => api.refused('POST', path(id), body);
  const ofTrace = (id: string) =>
    `is the id of a trace: send that of the span that is the completion; GET /spans?trace_id=${id} lists the spans of the trace`;
  const ofSession = (id: string) =>
    `is the id of a session: send that of the span that is the completion; GET /spans?session_id=${id} lists the spans of the session`;

  it('are refused with advice, and nothing is stored', async () => {
    const session_id = randomUUID();
    const span = completion(SLUG, { session_id });
    await api.post(span);
    expect(await refused(span.trace_id)).to.deep.equal({ '{completion_id}': ofTrace(span.trace_id) });
    expect(await refused(span.trace_id.replaceAll('-', ''))).to.have.keys('{completion_id}');
    expect(await refused(session_id)).to.deep.equal({ '{completion_id}': ofSession(session_id) });
    const stated = { id: randomUUID(), session_id: randomUUID(), name: 'posted', started_at: span.started_at };
    await api.expect(200, 'POST', '/traces', [stated]);
    await api.post(completion(SLUG, { trace_id: stated.id }));
    expect(await refused(stated.id)).to.deep.equal({ '{completion_id}': ofTrace(stated.id) });
    const alone = { id: randomUUID(), project_id: server.projectId };
    await api.expect(200, 'POST', '/sessions', [alone]);
    expect(await refused(alone.id)).to.deep.equal({ '{completion_id}': ofSession(alone.id) });
    const { total } = await api.expect(200, 'GET', `prompts/${SLUG}/feedback`);
    expect(total).to.equal(0);
  });

  it('are refused in feedback on a judge and in evaluations, beside all other issues', async () => {
    const span = completion(SLUG);
    await api.post(span);
    const { id: judge_id, task_slug } = judge;
    const about = { thumbs_up: true, judge_id };
    expect(await api.refused('POST', path(span.trace_id, task_slug), about)).to.have.keys('{completion_id}');
    expect(await refused(span.trace_id, { ...about, reason: 1 })).to.have.keys(
      '{completion_id}',
      '{prompt_slug}',
      '/reason',
    );
    const evaluations = `judges/${judge_id}/evaluations`;
    expect(await api.refused('POST', evaluations, { span_id: span.trace_id, evaluation_result: true })).to.deep.equal({
      '/span_id': ofTrace(span.trace_id).replace('the completion', 'evaluated'),
    });
    expect(await api.refused('POST', evaluations, { span_id: span.trace_id })).to.have.keys(
      '/span_id',
      '/evaluation_result',
    );
    await api.expect(201, 'POST', evaluations, { span_id: span.id, evaluation_result: true });
    await api.expect(201, 'POST', evaluations, { span_id: randomUUID(), evaluation_result: true });
  });

  it('are taken where a span has the same id, or nothing has arrived yet', async () => {
    const id = randomUUID();
    await api.post(completion(SLUG, { id, trace_id: id, session_id: id }));
    const total = async (): Promise<number> => (await api.expect(200, 'GET', `prompts/${SLUG}/feedback`)).total;
    const before = await total();
    await given(id);
    const later = completion(SLUG);
    await given(later.id);
    await api.post(later);
    await given(later.id);
    expect(await total()).to.equal(before + 2);
  });

  it('are taken where the trace was posted before its spans, and refused once others have arrived', async () => {
    const { id: judge_id } = judge;
    const span = completion(SLUG);
    const [rooted, other] = [randomUUID(), randomUUID()];
    await api.expect(
      200,
      'POST',
      '/traces',
      [rooted, other].map((id) => ({ id, session_id: randomUUID(), name: 'posted', started_at: span.started_at })),
    );
    for (const id of [rooted, other]) await given(id);
    await api.expect(201, 'POST', `judges/${judge_id}/evaluations`, { span_id: rooted, evaluation_result: true });
    const inOther = { ...span, trace_id: other };
    await api.post({ ...span, id: rooted, trace_id: rooted }, inOther);
    await given(rooted);
    expect(await refused(other)).to.deep.equal({ '{completion_id}': ofTrace(other) });
    await api.expect(204, 'DELETE', `/spans/${inOther.id}`);
    await given(other);
  });

  it('are taken where a child of the span has arrived before it', async () => {
    const { id: judge_id } = judge;
    const id = randomUUID();
    const child = completion(SLUG, { trace_id: id, parent_span_id: id });
    // Beside one of the same trace that says nothing of it.
    await api.post(completion(SLUG, { trace_id: id }));
    await refused(id);
    await api.post(child);
    expect(await given(id)).to.include({ completion_id: id, thumbs_up: true });
    await api.expect(201, 'POST', `judges/${judge_id}/evaluations`, { span_id: id, evaluation_result: true });
    await api.post(completion(SLUG, { id, trace_id: id }));
    await given(id);
    // A session with the id of a span that is still to come.
    const session_id = randomUUID();
    await api.post(completion(SLUG, { session_id, parent_span_id: session_id }));
    await given(session_id);
  });

  it('are refused again where that child names another parent, or is deleted', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const children = [one, other].map((id) => completion(SLUG, { trace_id: id, parent_span_id: id }));
    const siblings = [one, other].map((trace_id) => completion(SLUG, { trace_id }));
    await api.post(...children, ...siblings);
    await given(one);
    await api.post({ ...children[0]!, parent_span_id: siblings[0]!.id });
    await api.expect(204, 'DELETE', `/spans/${children[1]!.id}`);
    for (const id of [one, other]) expect(await refused(id)).to.deep.equal({ '{completion_id}': ofTrace(id) });
  });

  it('are taken again once the trace is deleted', async () => {
    const span = completion(SLUG);
    await api.post(span);
    await refused(span.trace_id);
    await api.expect(204, 'DELETE', `/traces/${span.trace_id}`);
    await given(span.trace_id);
  });
});

describe('feedback while ClickHouse does not answer', () => {
  it('is kept, as its span may not have arrived either', async () => {
    const dataDir = await freshDataDir('spanhouse-feedback-');
    const program = await Program.start(dataDir);
    try {
      const prompt = await program.request('POST', `/v1/tasks/${SLUG}/prompt/versions/ensure`, { content: 'x' });
      expect(prompt.status).to.equal(200);
      process.kill(program.enginePid, 'SIGSTOP');
      const path = `/v1/prompts/${SLUG}/completions/${randomUUID()}/feedback`;
      const { status, json } = await program.request('POST', path, { thumbs_up: true });
      expect([status, (json as Json)['thumbs_up']]).to.deep.equal([200, true]);
    } finally {
      await program.destroy();
      await removeDirectory(dataDir);
    }
  });
});
