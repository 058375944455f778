import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { completion, feedbackApi, keyOfAnotherUser, storeJudge, withDatabase } from './feedback-api.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const criteria = ['accuracy', 'tone/of ~voice'].map((key) => ({ key, label: key, description: `Of ${key}` }));

describe('feedback on completions', () => {
  let server: TestServer;
  let api: ReturnType<typeof feedbackApi>;
  let promptId: string;
  let binary: string;
  let scored: string;

  before(async () => {
    server = await bootServer();
    api = feedbackApi(server);
    promptId = (await api.ensure('support/answers')).json.prompt_id;
    await api.ensure('judge-task');
    binary = storeJudge(server, { task_slug: 'judge-task' });
    scored = storeJudge(server, { task_slug: 'judge-task', evaluation_type: 'scored', criteria });
  });
  after(() => server.dispose());

  const issuesOf = (json: any): Record<string, string> =>
    Object.fromEntries(json.errors.map(({ pointer, detail }: any) => [pointer, detail]));

  it('is answered as the record of the contract, with what is absent as null', async () => {
    const id = randomUUID();
    const { status, json } = await api.give('support/answers', id.toUpperCase(), { thumbs_up: true });
    expect(status).to.equal(200);
    expect(json.id).to.match(UUID);
    expect(json.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(json).to.deep.equal({
      id: json.id,
      completion_id: id,
      prompt_id: promptId,
      thumbs_up: true,
      reason: null,
      expected_output: null,
      judge_was_right: null,
      judge_id: null,
      expected_score: null,
      score_direction: null,
      criteria_feedback: null,
      metadata: {},
      created_at: json.created_at,
      updated_at: json.created_at,
    });
  });

  it('replaces what the same user said of the same completion, as a whole', async () => {
    const id = randomUUID();
    const first = await api.give('support/answers', id, {
      thumbs_up: false,
      reason: 'Wrong\u0000 🙃',
      expected_output: 'Right',
      metadata: { a: [1, { b: null }] },
    });
    expect(first.json).to.deep.include({
      thumbs_up: false,
      reason: 'Wrong\u0000 🙃',
      expected_output: 'Right',
      metadata: { a: [1, { b: null }] },
    });
    const second = await api.give('support/answers', id, { thumbs_up: true, reason: null });
    expect(second.json).to.deep.include({ thumbs_up: true, reason: null, expected_output: null, metadata: {} });
    expect(second.json).to.include({ id: first.json.id, created_at: first.json.created_at });
    expect(second.json.updated_at > first.json.updated_at).to.equal(true);
  });

  it('is one record per user and per judge', async () => {
    const span = completion('support/answers');
    await api.spans([span]);
    const other = feedbackApi(server, keyOfAnotherUser(server, 'Other'));
    const answers = [
      await api.give('support/answers', span.id, { thumbs_up: true }),
      await other.give('support/answers', span.id, { thumbs_up: false }),
      await api.give('judge-task', span.id, { thumbs_up: false, judge_id: binary }),
      await api.give('judge-task', span.id, { thumbs_up: false, judge_id: scored.toUpperCase() }),
      await api.give('support/answers', span.id, { thumbs_up: true, reason: 'again' }),
    ];
    const ids = answers.map(({ json }) => json.id);
    expect(new Set(ids).size).to.equal(4);
    expect(ids[4]).to.equal(ids[0]);
    const { json } = await api.unified('span', span.id);
    expect(json.summary.human_feedback_count).to.equal(4);
    const byOther = json.items.find((item: any) => item.id === ids[1]);
    expect(byOther.created_by).to.deep.include({ name: 'Other', email: 'other@example.com' });
  });

  it('of one user, 50 at once, is one record', async () => {
    const id = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        api.give('support/answers', id, { thumbs_up: index % 2 === 0, reason: `number ${index}` }),
      ),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id} ${json.created_at}`)).size).to.equal(1);
    const { json } = await api.unified('span', id);
    expect(json.summary.total).to.equal(1);
    expect(answers.map((answer) => answer.json.reason)).to.include(json.items[0].reason);
  });

  it('is refused for a prompt, judge or user that does not exist', async () => {
    const id = randomUUID();
    expect((await api.give('nowhere', id, { thumbs_up: true })).status).to.equal(404);
    expect((await api.give('judge-task', id, { thumbs_up: true, judge_id: randomUUID() })).status).to.equal(404);
    const deleted = storeJudge(server, { task_slug: 'judge-task', deleted: true });
    expect((await api.give('judge-task', id, { thumbs_up: true, judge_id: deleted })).status).to.equal(404);
    const second = feedbackApi(server, secondProject(server).key);
    expect((await second.give('support/answers', id, { thumbs_up: true })).status).to.equal(404);
    const other = await api.give('support/answers', id, { thumbs_up: true, judge_id: binary });
    expect([other.status, other.json.detail, issuesOf(other.json)]).to.deep.equal([
      422,
      '{prompt_slug} must be the task_slug of the judge: judge-task',
      { '{prompt_slug}': 'must be the task_slug of the judge: judge-task' },
    ]);
    await second.ensure('judge-task');
    expect((await second.give('judge-task', id, { thumbs_up: true, judge_id: binary })).status).to.equal(404);
    expect(
      (await api.request('POST', `/v1/prompts/x/completions/${id}/feedback`, { key: null, body: {} })).status,
    ).to.equal(401);
    expect((await api.unified('span', id)).status).to.equal(404);
  });

  it('on a judge takes scores and criteria inside its range', async () => {
    const body = {
      thumbs_up: false,
      judge_id: scored,
      expected_score: 5,
      score_direction: 'too_low',
      criteria_feedback: {
        accuracy: { expected_score: 4.5, reason: 'All of it is true' },
        'tone/of ~voice': { reason: 'Too stiff' },
      },
    };
    const { status, json } = await api.give('judge-task', randomUUID(), body);
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      judge_id: scored,
      expected_score: 5,
      score_direction: 'too_low',
      criteria_feedback: {
        accuracy: { expected_score: 4.5, reason: 'All of it is true' },
        'tone/of ~voice': { expected_score: null, reason: 'Too stiff' },
      },
    });
  });

  it('on a judge must be sent to its task', async () => {
    const { status, json } = await api.give('support/answers', randomUUID(), { thumbs_up: true, judge_id: binary });
    expect(status).to.equal(422);
    expect(json.errors[0].detail).to.include('judge-task');
  });

  it('on a judge may say judge_was_right, and answers it either way', async () => {
    const id = randomUUID();
    for (const [said, right] of [
      [{ judge_was_right: true }, true],
      [{ judge_was_right: false }, false],
      [{ thumbs_up: true }, true],
      [{ thumbs_up: false, judge_was_right: false }, false],
      [{ thumbs_up: true, judge_was_right: null }, true],
      [{ thumbs_up: null, judge_was_right: false }, false],
    ] as const) {
      const { status, json } = await api.give('judge-task', id, { judge_id: binary, ...said });
      expect(status, JSON.stringify(said)).to.equal(200);
      expect(json).to.include({ thumbs_up: right, judge_was_right: right });
    }
    const { json } = await api.unified('span', id);
    expect(json.items[0]).to.include({ source_type: 'judge', thumbs_up: false, judge_was_right: false });
  });

  it('refuses a judge_was_right that is alone, contradicted or missing, and says which', async () => {
    const same = 'must equal thumbs_up, or be the only one of the two';
    const judge_id = binary;
    for (const [body, pointer, detail] of [
      [{ judge_id, thumbs_up: true, judge_was_right: false }, '/judge_was_right', same],
      [{ judge_id, thumbs_up: false, judge_was_right: true }, '/judge_was_right', same],
      [{ judge_id }, '/judge_was_right', 'is required, unless thumbs_up says whether the judge was right'],
      [{ judge_was_right: true }, '/judge_was_right', 'requires judge_id; without a judge, send thumbs_up'],
      [{ thumbs_up: true, judge_was_right: true }, '/judge_was_right', 'requires judge_id'],
      [{ judge_id, judge_was_right: 'yes' }, '/judge_was_right', ''],
      [{}, '/thumbs_up', 'is required'],
    ] as const) {
      const { status, json } = await api.give('judge-task', randomUUID(), body);
      expect(status, JSON.stringify(body)).to.equal(422);
      expect(issuesOf(json)[pointer], JSON.stringify(body)).to.include(detail);
    }
  });

  it('has scores for scored judges only', async () => {
    const scores = {
      expected_score: 1,
      score_direction: 'too_high',
      criteria_feedback: { accuracy: { expected_score: 1 } },
    };
    for (const judge of [{}, { judge_id: binary }]) {
      const { status, json } = await api.give('judge-task', randomUUID(), { thumbs_up: true, ...judge, ...scores });
      expect(status).to.equal(422);
      expect(Object.keys(issuesOf(json))).to.have.members([
        '/expected_score',
        '/score_direction',
        '/criteria_feedback',
      ]);
    }
    const nothing = { expected_score: null, score_direction: null, criteria_feedback: {} };
    expect((await api.give('judge-task', randomUUID(), { thumbs_up: true, ...nothing })).status).to.equal(200);
  });

  it('names every score out of range and every unknown criterion, with those there are', async () => {
    const { status, json } = await api.give('judge-task', randomUUID(), {
      thumbs_up: false,
      judge_id: scored,
      expected_score: 5.01,
      criteria_feedback: {
        accuracy: { expected_score: 0.99 },
        'tone/of ~voice': {},
        color: { expected_score: 3 },
        __proto__x: { expected_score: 3 },
      },
    });
    expect(status).to.equal(422);
    const issues = issuesOf(json);
    expect(Object.keys(issues)).to.have.members([
      '/expected_score',
      '/criteria_feedback/accuracy/expected_score',
      '/criteria_feedback/tone~1of ~0voice',
      '/criteria_feedback/color',
      '/criteria_feedback/__proto__x',
    ]);
    expect(issues['/expected_score']).to.include('between 1 and 5');
    expect(issues['/criteria_feedback/color']).to.include('accuracy, tone/of ~voice');
  });

  it('is refused with every rule it breaks, and stores nothing', async () => {
    const id = randomUUID();
    const bodies: [unknown, string][] = [
      [{}, '/thumbs_up'],
      [{ thumbs_up: null }, '/thumbs_up'],
      [{ thumbs_up: 'true' }, '/thumbs_up'],
      [{ thumbs_up: true, reason: 7 }, '/reason'],
      [{ thumbs_up: true, reason: 'x'.repeat(32_769) }, '/reason'],
      [{ thumbs_up: true, expected_output: {} }, '/expected_output'],
      [{ thumbs_up: true, metadata: [] }, '/metadata'],
      [{ thumbs_up: true, metadata: { a: 'x'.repeat(262_144) } }, '/metadata'],
      [{ thumbs_up: true, judge_id: 'x' }, '/judge_id'],
      [{ thumbs_up: true, score_direction: 'up' }, '/score_direction'],
      [{ thumbs_up: true, criteria_feedback: { accuracy: 5 } }, '/criteria_feedback/accuracy'],
      [[], ''],
    ];
    for (const [body, pointer] of bodies) {
      const { status, json } = await api.give('support/answers', id, body);
      expect(status, JSON.stringify(body).slice(0, 80)).to.equal(422);
      expect(Object.keys(issuesOf(json)), JSON.stringify(body).slice(0, 80)).to.include(pointer);
    }
    expect((await api.give('support/answers', 'not-an-id', { thumbs_up: true })).status).to.equal(422);
    expect((await api.unified('span', id)).status).to.equal(404);
  });

  it('keeps half of a surrogate pair as the replacement character, as it is stored', async () => {
    const { json } = await api.give('support/answers', randomUUID(), { thumbs_up: true, reason: 'a\ud800b' });
    expect(json.reason).to.equal('a\ufffdb');
  });

  it('is what was last given of every user, completion and judge, whatever the order (property)', async function () {
    this.timeout(120_000);
    const users = [api, feedbackApi(server, keyOfAnotherUser(server, 'Third'))];
    const operation = fc.record({
      user: fc.nat(1),
      completion: fc.nat(2),
      judge: fc.constantFrom(null, binary, scored),
      thumbs_up: fc.boolean(),
      reason: fc.option(fc.string({ unit: 'grapheme' }), { freq: 2 }),
      expected_output: fc.option(fc.string(), { freq: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
        const completions = [randomUUID(), randomUUID(), randomUUID()];
        const model = new Map<string, Record<string, unknown>>();
        for (const { user, completion: at, judge, ...content } of operations) {
          const slug = judge === null ? 'support/answers' : 'judge-task';
          const { status, json } = await users[user]!.give(slug, completions[at]!, { ...content, judge_id: judge });
          expect(status).to.equal(200);
          const key = `${user} ${at} ${judge}`;
          const before = model.get(key);
          if (before !== undefined) expect(json).to.include({ id: before['id'], created_at: before['created_at'] });
          model.set(key, { id: json.id, created_at: json.created_at, ...content });
        }
        for (const [at, id] of completions.entries()) {
          const expected = [...model].filter(([key]) => key.split(' ')[1] === String(at)).map(([, value]) => value);
          const { json, status } = await api.unified('span', id);
          if (expected.length === 0) {
            expect(status).to.equal(404);
            continue;
          }
          const seen = json.items.map(({ id, created_at, thumbs_up, reason, expected_output }: any) => ({
            id,
            created_at,
            thumbs_up,
            reason,
            expected_output: expected_output ?? null,
          }));
          expect(seen).to.have.deep.members(expected);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is counted by source and thumb', async () => {
    const count = async (thumb: string) => {
      const { text } = await api.request('GET', '/metrics', { key: null });
      return Number(
        new RegExp(`feedback_accepted_total\\{source="api",thumb="${thumb}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
      );
    };
    const [up, down] = [await count('up'), await count('down')];
    await api.give('support/answers', randomUUID(), { thumbs_up: true });
    await api.give('nowhere', randomUUID(), { thumbs_up: true });
    expect([await count('up'), await count('down')]).to.deep.equal([up + 1, down]);
  });

  it('survives a restart', async () => {
    const id = randomUUID();
    const { json: given } = await api.give('support/answers', id, { thumbs_up: false, expected_output: 'x' });
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir });
    api = feedbackApi(server);
    const { json } = await api.unified('span', id);
    expect(json.items[0]).to.include({ id: given.id, thumbs_up: false, expected_output: 'x' });
    expect(
      withDatabase(server, (db) => db.prepare('SELECT count(*) FROM feedback WHERE completion_id = ?').pluck().get(id)),
    ).to.equal(1);
  });
});
