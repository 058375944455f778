import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { completion, feedbackApi, storeEvaluation, storeJudge, withDatabase } from './feedback-api.js';

describe('unified feedback', () => {
  let server: TestServer;
  let api: ReturnType<typeof feedbackApi>;

  before(async () => {
    server = await bootServer();
    api = feedbackApi(server);
    await api.ensure('answers');
    await api.ensure('judge-task');
  });
  after(() => server.dispose());

  const idsOf = async (type: string, id: string): Promise<string[] | number> => {
    const { status, json } = await api.unified(type, id);
    if (status !== 200) return status;
    expect(json).to.include({ entity_type: type, entity_id: id });
    expect(json.summary.total).to.equal(json.items.length);
    return json.items.map((item: any) => item.id);
  };
  const give = async (spanId: string): Promise<string> =>
    (await api.give('answers', spanId, { thumbs_up: true })).json.id;

  it('holds the fields of both kinds, newest first', async () => {
    const span = completion('answers');
    await api.spans([span]);
    const scored = storeJudge(server, { task_slug: 'judge-task', name: 'Score it', evaluation_type: 'scored' });
    const binary = storeJudge(server, { task_slug: 'judge-task', name: 'Check <it>', deleted: true });
    const at = Date.now() * 1000;
    const evaluations = [
      storeEvaluation(server, binary, span.id, { created_at: at - 2e6, confidence_score: null, model_used: null }),
      storeEvaluation(server, scored, span.id, {
        created_at: at - 1e6,
        evaluation_type: 'scored',
        evaluation_result: false,
        score: 2.5,
        score_min: 1,
        score_max: 5,
        pass_threshold: 3,
        criteria_scores: { tone: { score: 2, reason: 'Stiff' } },
      }),
    ];
    const human = (await api.give('answers', span.id, { thumbs_up: false, reason: 'No', expected_output: 'Yes' })).json;
    const onJudge = (
      await api.give('judge-task', span.id, {
        thumbs_up: false,
        judge_id: scored,
        expected_score: 4,
        score_direction: 'too_low',
      })
    ).json;
    const { status, json } = await api.unified('span', span.id.toUpperCase());
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      entity_type: 'span',
      entity_id: span.id,
      summary: { total: 4, human_feedback_count: 2, judge_evaluation_count: 2 },
    });
    expect(json.items.map(({ id }: any) => id)).to.deep.equal([onJudge.id, human.id, evaluations[1], evaluations[0]]);
    const created_by = json.items[0].created_by;
    expect(created_by).to.have.all.keys('id', 'email', 'name');
    expect(json.items).to.deep.equal([
      {
        kind: 'human_feedback',
        id: onJudge.id,
        span_id: span.id,
        thumbs_up: false,
        judge_was_right: false,
        reason: null,
        created_at: onJudge.created_at,
        updated_at: onJudge.updated_at,
        created_by,
        source_type: 'judge',
        judge_id: scored,
        expected_score: 4,
        score_direction: 'too_low',
      },
      {
        kind: 'human_feedback',
        id: human.id,
        span_id: span.id,
        thumbs_up: false,
        judge_was_right: null,
        reason: 'No',
        expected_output: 'Yes',
        created_at: human.created_at,
        updated_at: human.updated_at,
        created_by,
        source_type: 'human',
      },
      {
        kind: 'judge_evaluation',
        id: evaluations[1],
        span_id: span.id,
        automation_id: scored,
        judge_name: 'Score it',
        evaluation_result: false,
        evaluation_reason: 'It answers the question.',
        confidence_score: 0.5,
        model_used: 'some-model',
        evaluation_duration_ms: 12.5,
        evaluation_type: 'scored',
        score: 2.5,
        score_min: 1,
        score_max: 5,
        pass_threshold: 3,
        criteria_scores: { tone: { score: 2, reason: 'Stiff' } },
        created_at: json.items[2].created_at,
      },
      {
        kind: 'judge_evaluation',
        id: evaluations[0],
        span_id: span.id,
        automation_id: binary,
        judge_name: 'Check <it>',
        evaluation_result: true,
        evaluation_reason: 'It answers the question.',
        confidence_score: null,
        model_used: null,
        evaluation_duration_ms: 12.5,
        evaluation_type: 'binary',
        created_at: json.items[3].created_at,
      },
    ]);
  });

  it('is there for a completion that has not arrived, and empty for an entity without feedback', async () => {
    const early = randomUUID();
    const id = await give(early);
    expect(await idsOf('span', early)).to.deep.equal([id]);
    const session_id = randomUUID();
    const quiet = completion('answers', { session_id });
    await api.spans([quiet]);
    const stated = { id: randomUUID(), project_id: server.projectId };
    await api.request('POST', '/sessions', { body: [stated] });
    const trace = { id: randomUUID(), session_id: stated.id, name: 'stated', started_at: quiet.started_at };
    await api.request('POST', '/traces', { body: [trace] });
    for (const [type, entity] of [
      ['span', quiet.id],
      ['trace', quiet.trace_id],
      ['session', session_id],
      ['session', stated.id],
      ['trace', trace.id],
    ] as const)
      expect(await idsOf(type, entity), type).to.deep.equal([]);
  });

  it('answers 404 for nothing, 422 for another kind of entity, 403 for another project', async () => {
    for (const type of ['span', 'trace', 'session']) expect(await idsOf(type, randomUUID()), type).to.equal(404);
    expect(await idsOf('prompt', randomUUID())).to.equal(422);
    expect(await idsOf('span', 'x')).to.equal(422);
    for (const query of ['?limit=0', '?limit=10001', '?offset=-1', '?limit=x'])
      expect((await api.unified('span', randomUUID(), query)).status, query).to.equal(422);
    const second = secondProject(server);
    const other = feedbackApi(server, second.key);
    const span = completion('answers');
    await api.spans([span]);
    await give(span.id);
    expect((await other.unified('span', span.id)).status).to.equal(403);
    const own = `/projects/${second.projectId}/feedback/span/${span.id}`;
    expect((await other.request('GET', own)).status).to.equal(404);
  });

  it('follows spans that are replaced, moved and deleted, at once', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const trace = randomUUID();
    const spans = [0, 1, 2].map((index) =>
      completion('answers', {
        trace_id: index < 2 ? trace : randomUUID(),
        session_id: first,
        started_at: `2026-03-01T12:00:0${index}Z`,
      }),
    );
    await api.spans(spans);
    const [a, b, c] = [await give(spans[0]!.id), await give(spans[1]!.id), await give(spans[2]!.id)];
    expect(await idsOf('session', first)).to.have.members([a, b, c]);
    expect(await idsOf('trace', trace)).to.have.members([a, b]);
    // The latest written span that names a session moves its trace there, and with it both spans.
    await api.spans([{ ...spans[1], session_id: second, output_data: 'again' }]);
    expect(await idsOf('session', first)).to.deep.equal([c]);
    expect(await idsOf('session', second)).to.have.members([a, b]);
    expect(await idsOf('trace', trace)).to.have.members([a, b]);
    await api.request('DELETE', `/spans/${spans[0]!.id}`);
    expect(await idsOf('session', second)).to.deep.equal([b]);
    expect(await idsOf('trace', trace)).to.deep.equal([b]);
    // Its feedback went with it, and does not come back with a span of the same id.
    expect(await idsOf('span', spans[0]!.id)).to.equal(404);
    await api.spans([spans[0]]);
    expect(await idsOf('trace', trace)).to.deep.equal([b]);
    await api.request('DELETE', `/traces/${trace}`);
    expect(await idsOf('trace', trace)).to.equal(404);
    await api.request('DELETE', `/sessions/${first}`);
    expect(await idsOf('session', first)).to.equal(404);
  });

  it('counts a span id of two traces once', async () => {
    const session_id = randomUUID();
    const span = completion('answers', { session_id });
    await api.spans([span, { ...span, trace_id: randomUUID() }]);
    const id = await give(span.id);
    expect(await idsOf('session', session_id)).to.deep.equal([id]);
    await api.request('DELETE', `/traces/${span.trace_id}`);
    expect(await idsOf('session', session_id)).to.deep.equal([id]);
  });

  it('pages on request over a stable order, with the summary of all', async () => {
    const session_id = randomUUID();
    const spans = Array.from({ length: 60 }, () => completion('answers', { session_id }));
    await api.spans(spans);
    await Promise.all(spans.map(({ id }) => give(id)));
    // Equal times are ordered by id.
    withDatabase(server, (db) =>
      db
        .prepare('UPDATE feedback SET created_at = 1 WHERE completion_id IN (SELECT value FROM json_each(?))')
        .run(JSON.stringify(spans.slice(0, 30).map(({ id }) => id))),
    );
    const all = await idsOf('session', session_id);
    expect(all).to.have.length(60);
    const pages: string[] = [];
    for (let offset = 0; offset < 60; offset += 7) {
      const { json } = await api.unified('session', session_id, `?limit=7&offset=${offset}`);
      expect(json.summary.total).to.equal(60);
      pages.push(...json.items.map(({ id }: any) => id));
    }
    expect(pages).to.deep.equal(all);
  });

  it('sends large items as a stream, whole', async function () {
    this.timeout(60_000);
    const session_id = randomUUID();
    const spans = Array.from({ length: 15 }, () => completion('answers', { session_id }));
    await api.spans(spans);
    for (const [index, { id }] of spans.entries())
      await api.give('answers', id, { thumbs_up: true, expected_output: String(index % 10).repeat(1_000_000) });
    const { json } = await api.unified('session', session_id);
    expect(json.items).to.have.length(15);
    for (const item of json.items) expect(item.expected_output).to.match(/^(\d)\1{999999}$/);
  });

  it('takes a turn among large answers until its client has it whole', async function () {
    this.timeout(60_000);
    const limits = { answersAtOnce: 2, answersOfProject: 1, readWaitMs: 1_000 };
    const small = await bootServer({ limits });
    try {
      const one = feedbackApi(small);
      await one.ensure('answers');
      const trace_id = randomUUID();
      const spans = Array.from({ length: 12 }, () => completion('answers', { trace_id }));
      await one.spans(spans);
      for (const { id } of spans)
        await one.give('answers', id, { thumbs_up: true, expected_output: 'x'.repeat(1_000_000) });
      const path = `/projects/${small.projectId}/feedback/trace/${trace_id}`;
      const slow = connect({ port: small.port, host: '127.0.0.1' });
      slow.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${small.key}\r\n\r\n`);
      await once(slow, 'data');
      slow.pause();
      expect((await one.unified('trace', trace_id, '?limit=1')).status).to.equal(429);
      slow.destroy();
      let again = await one.unified('trace', trace_id, '?limit=1');
      // The server hears of it a moment later.
      while (again.status === 429) again = await one.unified('trace', trace_id, '?limit=1');
      expect(again.json.items).to.have.length(1);
    } finally {
      await small.dispose();
    }
  });
});
