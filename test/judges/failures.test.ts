import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { SqliteRunStore } from '../../src/features/judges/store/run-store.js';
import { API_KEY, eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';
import { answer, passing, type ModelEndpoint, type Script } from './model-endpoint.js';

/** How long it goes unsaid that calls fail once that was said. */
const SAID_FOR_MS = 10_000;

describe('judges when the model endpoint fails', () => {
  let bench: JudgeBench;
  let api: JudgeApi;
  let endpoint: ModelEndpoint;
  let judge: Json;
  let log = '';
  before(async () => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        log += String(chunk);
        done();
      },
    });
    bench = await JudgeBench.boot(
      // With time for a call on a busy machine: each that takes too long would be one more failure.
      { JUDGE_LLM_TIMEOUT_SECONDS: '5' },
      { logger: createLogger({ level: 'debug', format: 'json' }, stream) },
    );
    ({ api, endpoint } = bench);
    judge = await api.create({ name: 'Patient' });
  });
  after(() => bench.dispose());
  beforeEach(() => endpoint.reset());

  /** Plays the scripts one after another, the last one for ever. */
  const play = (...scripts: Script[]) =>
    endpoint.reset((_asked, index) => scripts[index] ?? scripts.at(-1) ?? answer(passing));
  const one = async (): Promise<Json> => {
    const span = await api.postOne();
    return api.until(judge, span, ['evaluated', 'failed']);
  };
  const callsOf = async ({ run, evaluation_id }: Json): Promise<Json[]> => {
    const id = run?.id ?? evaluation_id;
    return eventually(
      async () => (await api.callsOf(judge)).filter(({ attributes }) => attributes.spanhouse.run_id === id),
      (calls) => calls.length > 0 || endpoint.asked.length === 0,
    );
  };

  const passingFailures: [what: string, script: Script, code: string][] = [
    ['429', { do: 'status', status: 429 }, '429'],
    ['500', { do: 'status', status: 500, body: { oops: 1 } }, '500'],
    ['503 that is no JSON', { do: 'status', status: 503, body: 'x' }, '503'],
    ['a cut connection', { do: 'cut' }, 'connection'],
    ['a connection cut in the middle', { do: 'cut', after: 'half' }, 'connection'],
    ['an answer that never comes', { do: 'hang' }, 'timeout'],
    ['a stream that never ends', { do: 'drip' }, 'timeout'],
    ['an answer that is no completion', { do: 'raw', text: '{"choices": []}' }, 'answer'],
    ['an answer that is no JSON', { do: 'raw', text: '<html>' }, 'answer'],
    ['an answer larger than may be read', { do: 'raw', text: 'x'.repeat(9 * 1024 * 1024) }, 'connection'],
  ];
  for (const [what, script, code] of passingFailures)
    it(`tries again after ${what}`, async () => {
      play(script, answer(passing));
      const explanation = await one();
      expect(explanation['answer'], explanation['explanation']).to.equal('evaluated');
      expect(endpoint.asked).to.have.length(2);
      const calls = await callsOf(explanation);
      expect(
        calls.map(({ status, error_code, attributes }) => [status, error_code, attributes.spanhouse.attempt]),
      ).to.deep.equal([
        ['error', code, 1],
        ['ok', null, 2],
      ]);
      expect(new Set(calls.map(({ trace_id }) => trace_id)).size, 'both in one trace').to.equal(1);
    });

  it('gives up after the configured attempts, and says why', async () => {
    play({ do: 'status', status: 500, body: { error: { message: 'out of order' } } });
    const { answer: said, explanation, run } = await one();
    expect([said, run.attempts, run.state]).to.deep.equal(['failed', 3, 'failed']);
    expect(run.reason).to.equal('failed after 3 attempts: The model endpoint failed (500)');
    expect(explanation).to.contain(run.reason);
    expect(endpoint.asked).to.have.length(3);
    const [newest] = await api.runs(judge, 'state=failed');
    expect(newest).to.deep.equal(run);
    expect((await api.runs(judge, 'state=queued')).length).to.equal(0);
    const page = await api.expect(200, 'GET', `judges/${judge['id']}/runs?state=failed&limit=1`);
    expect([page.runs.length, page.total >= 1, page.limit, page.offset]).to.deep.equal([1, true, 1, 0]);
    for (const query of ['state=done', 'limit=0', 'limit=501', 'offset=-1'])
      await api.expect(422, 'GET', `judges/${judge['id']}/runs?${query}`);
    play(answer(passing));
    await api.expect(202, 'POST', `judges/${judge['id']}:run`, { span_ids: [run.span_id] });
    await api.until(judge, { id: run.span_id }, 'evaluated');
  });

  it('tries all that failed again when told to, once, and loses none of their calls', async () => {
    const other = await api.create({ name: 'Again', filters: { names: ['again'] } });
    play({ do: 'status', status: 400 });
    const spans = await api.post(...[1, 2, 3].map(() => finished({ name: 'again' })));
    for (const span of spans) await api.until(other, span, 'failed');
    const failed = await api.runs(other);
    play(answer(passing));
    await api.expect(202, 'POST', `judges/${other['id']}:run`, { span_ids: [spans[0]?.['id']] });
    await api.evaluated(other, spans[0] ?? {});
    const retry = () => api.expect(202, 'POST', `judges/${other['id']}:retry`);
    expect(await retry(), 'not what was evaluated since').to.deep.equal({ queued: 2, left: 0 });
    expect(await retry()).to.deep.equal({ queued: 0, left: 0 });
    for (const span of spans) await api.evaluated(other, span);
    expect(await retry()).to.deep.equal({ queued: 0, left: 0 });
    expect((await api.evaluations(other)).map(({ origin }) => origin).sort()).to.deep.equal([
      'automatic',
      'automatic',
      'requested',
    ]);
    expect((await api.runs(other)).map(({ span_id }) => span_id)).to.deep.equal([spans[0]?.['id']]);
    const calls = await eventually(
      () => api.callsOf(other),
      (found) => found.length >= 6,
    );
    const failedCalls = calls.filter(({ status }) => status === 'error');
    expect(failedCalls.map(({ attributes }) => attributes.spanhouse.run_id)).to.have.members(
      failed.map(({ id }) => id),
    );
    // The calls of the runs that failed go with the span, although the runs have other ids now.
    await api.expect(204, 'DELETE', `/spans/${spans[1]?.['id']}`);
    const left = await eventually(
      () => api.callsOf(other),
      (found) => found.length <= 4,
    );
    expect(left.map(({ attributes }) => attributes.spanhouse.span_id)).to.not.include(spans[1]?.['id']);
    await api.expect(404, 'POST', `judges/${randomUUID()}:retry`);
    await api.expect(204, 'DELETE', `judges/${other['id']}`);
    await api.expect(404, 'POST', `judges/${other['id']}:retry`);
  });

  it('leaves the endpoint alone as long as it asks for', async () => {
    play({ do: 'status', status: 429, headers: { 'retry-after': '1' } }, answer(passing));
    const [first] = await api.post(finished());
    await eventually(
      async () => endpoint.asked.length,
      (count) => count === 1,
    );
    await sleep(100);
    const [second] = await api.post(finished());
    await api.evaluated(judge, first ?? {});
    await api.evaluated(judge, second ?? {});
    const [asked = 0, ...later] = endpoint.asked.map(({ at }) => at);
    expect(later).to.have.length(2);
    expect(Math.min(...later) - asked, 'ms').to.be.at.least(990);
  });

  for (const status of [400, 401, 403, 404, 422])
    it(`fails at once at ${status}`, async () => {
      play({ do: 'status', status, body: { error: { message: `no, and your key is ${API_KEY}` } } });
      const { answer: said, run } = await one();
      expect([said, run.attempts]).to.deep.equal(['failed', 1]);
      const setting = status === 404 ? ': set JUDGE_LLM_BASE_URL to the address before /chat/completions' : '';
      expect(run.reason).to.match(new RegExp(`^The model endpoint [a-z' ]+ \\(${status}\\)${setting}$`));
      expect(log, 'the log has it in full').to.contain(`${status} no, and your key is [redacted]`);
      expect(endpoint.asked).to.have.length(1);
    });

  it('says once that the key is refused, also at the judge, and once that it is accepted again', async () => {
    let from = 0;
    const said = (message: string) =>
      log
        .slice(from)
        .split('\n')
        .filter((line) => line.includes(message));
    play(answer(passing));
    await one();
    from = log.length;
    const began = performance.now();
    play({ do: 'status', status: 401, body: { error: { message: 'Incorrect API key' } } });
    const refused = await one();
    expect(refused['explanation']).to.contain("The model endpoint rejected this server's key (401)");
    await one();
    expect(said('The model endpoint rejects the API key: set JUDGE_LLM_API_KEY')).to.have.length(1);
    expect(said('The model endpoint rejects the API key')[0]).to.contain('401 Incorrect API key');
    const further = said('Model endpoint call failed').filter((line) => line.includes('"level":"warn"'));
    const periods = Math.ceil((performance.now() - began) / SAID_FOR_MS);
    expect(further.length, 'the others at a bounded rate').to.be.at.most(periods);
    const shown = await api.expect(200, 'GET', `judges/${judge['id']}`);
    expect(shown.runnable).to.equal(false);
    expect(shown.not_runnable_reason).to.match(
      /^The model endpoint rejected this server's key \(401\), set by JUDGE_LLM_API_KEY, since 20[-0-9T:.]+Z$/,
    );
    play(answer(passing));
    await api.expect(202, 'POST', `judges/${judge['id']}:run`, { span_ids: [refused['span_id']] });
    await api.until(judge, { id: refused['span_id'] }, 'evaluated');
    expect(said('The model endpoint accepts the key again')).to.have.length(1);
    expect(await api.expect(200, 'GET', `judges/${judge['id']}`)).to.include({
      runnable: true,
      not_runnable_reason: null,
    });
  });

  it('blames the key of no judge for what the endpoint refuses of one call or one model', async () => {
    const made = bench.project('other');
    const others = await made.create({ name: 'Elsewhere', enabled: false, model: 'not asked yet' });
    const barred = await api.create({ name: 'Barred', model: 'barred', enabled: false });
    const reason = async (of: JudgeApi, { id }: Json) =>
      (await of.expect(200, 'GET', `judges/${id}`)).not_runnable_reason;
    const runBarred = async (status: number, error: object) => {
      endpoint.reset(({ body }) =>
        body.model === 'barred' ? { do: 'status', status, body: { error } } : answer(passing),
      );
      const span = await api.postOne();
      await api.evaluated(judge, span);
      await api.expect(202, 'POST', `judges/${barred['id']}:run`, { span_ids: [span['id']] });
      await api.until(barred, span, 'failed');
    };
    const flagged = { message: 'your input was flagged' };
    for (const error of [flagged, { ...flagged, code: 403 }, { ...flagged, code: 'content_policy_violation' }]) {
      await runBarred(403, error);
      expect(await reason(api, barred), JSON.stringify(error)).to.equal(null);
    }
    await runBarred(401, { message: 'no access to this model' });
    expect(await reason(api, barred)).to.contain("rejected this server's key (401)");
    expect([await reason(api, judge), await reason(made, others)], 'the others').to.deep.equal([null, null]);
    play({ do: 'status', status: 403, body: { error: { message: 'no', code: 'invalid_api_key' } } });
    await one();
    expect(await reason(api, judge)).to.contain("rejected this server's key (403)");
    expect(await reason(made, others), 'of another project').to.equal(null);
  });

  const badAnswers: [what: string, script: Script, problem: RegExp][] = [
    ['no JSON', { do: 'answer', content: 'Well, I think it passes' }, /is not JSON/],
    ['nothing', { do: 'answer', content: '' }, /is empty/],
    [
      'more than is looked at',
      { do: 'answer', content: `{"reason":"${'x'.repeat(1_100_000)}"}` },
      /truncated because it was/,
    ],
    ['another shape', { do: 'answer', content: '{"passed": "yes", "confidence": 2}' }, /reason.*passed|passed.*reason/],
    ['a refusal', { do: 'answer', content: '', with: { refusal: 'I cannot do that' } }, /refused: I cannot do that/],
  ];
  for (const [what, script, problem] of badAnswers) {
    it(`asks once more after ${what}, with what was wrong`, async () => {
      play(script, answer(passing));
      const explanation = await one();
      expect(explanation['answer']).to.equal('evaluated');
      const [first, second] = endpoint.asked;
      expect(second?.body.messages.slice(0, -2)).to.deep.equal(first?.body.messages);
      expect(second?.body.messages.at(-2)).to.deep.include({ role: 'assistant' });
      expect(second?.last).to.match(problem);
      const calls = await callsOf(explanation);
      expect(calls.map(({ attributes }) => attributes.spanhouse.attempt)).to.deep.equal([1, 1]);
      expect(new Set(calls.map(({ id }) => id)).size).to.equal(2);
    });

    it(`gives up after ${what} twice`, async () => {
      play(script);
      const { answer: said, run } = await one();
      expect([said, run.attempts]).to.deep.equal(['failed', 1]);
      expect(run.reason).to.match(problem);
      expect(endpoint.asked).to.have.length(2);
    });
  }

  it('takes JSON that is wrapped as Markdown', async () => {
    play({ do: 'answer', content: `\`\`\`json\n${JSON.stringify(passing)}\n\`\`\`` });
    expect(await one()).to.include({ answer: 'evaluated' });
    expect(endpoint.asked).to.have.length(1);
  });

  it('takes answers without usage', async () => {
    play({ do: 'answer', content: JSON.stringify(passing), usage: null });
    const [call] = await callsOf(await one());
    expect(call?.['attributes']).to.not.have.any.keys('inputTokens', 'outputTokens');
    expect(call?.['cost']).to.equal(null);
  });

  it('shows the key nowhere', async () => {
    const { text } = await bench.server.request('GET', '/metrics', { key: null });
    const runs = JSON.stringify(await api.runs(judge));
    const calls = JSON.stringify(await api.callsOf(judge));
    expect(endpoint.asked.every(({ authorization }) => authorization === `Bearer ${API_KEY}`)).to.equal(true);
    for (const shown of [log, text, runs, calls]) expect(shown.includes(API_KEY)).to.equal(false);
    expect(log).to.contain('"level":"debug"');
  });
});

describe('judges when the model endpoint is away', () => {
  let bench: JudgeBench;
  before(async () => {
    // With time for a call on a busy machine: each that takes too long counts as another failure of the endpoint.
    bench = await JudgeBench.boot({ JUDGE_LLM_TIMEOUT_SECONDS: '20' });
  });
  afterEach(() => bench.clear());
  after(() => bench.dispose());

  async function evaluated(judge: Json, spans: readonly Json[], atLeast: number): Promise<void> {
    const wanted = new Set(spans.map(({ id }) => id as string));
    await eventually(
      async () => (await bench.api.evaluations(judge, 'sort_order=desc')).filter(({ span_id }) => wanted.has(span_id)),
      (found) => found.length >= atLeast,
    );
  }

  it('use up few attempts, and go on when it is back', async () => {
    const { api, endpoint } = bench;
    endpoint.reset(() => ({ do: 'status', status: 503 }));
    const judge = await bench.make({ name: 'Patient' });
    const spans = await api.post(...Array.from({ length: 60 }, () => finished()));
    await eventually(
      async () => endpoint.asked.length,
      (count) => count >= 12,
    );
    await sleep(1_000);
    expect(endpoint.asked.length, 'calls').to.be.lessThan(60);
    endpoint.reset();
    await evaluated(judge, spans, 50);
  }).timeout(75_000);

  it('are asked again after a clock that was ahead was set right', async () => {
    const { api, endpoint } = bench;
    let ahead = 0;
    const { settle } = SqliteRunStore.prototype;
    SqliteRunStore.prototype.settle = function (outcomes, at) {
      const late = outcomes.map((outcome) =>
        outcome.kind === 'retry' ? { ...outcome, at: outcome.at + 400 * 86_400e6 } : outcome,
      );
      ahead += late.filter(({ kind }) => kind === 'retry').length;
      return settle.call(this, late, at);
    };
    try {
      endpoint.reset((_, index) => (index < 2 ? { do: 'status', status: 503 } : answer(passing)));
      const judge = await bench.make({ name: 'Ahead' });
      const spans = await api.post(finished(), finished());
      await evaluated(judge, spans, 2);
      expect(ahead, 'attempts that were put off').to.equal(2);
    } finally {
      SqliteRunStore.prototype.settle = settle;
    }
  }).timeout(75_000);

  it('are asked again when that may be, however long the store takes to say what is due', async () => {
    const { api, endpoint } = bench;
    const { nextDue } = SqliteRunStore.prototype;
    SqliteRunStore.prototype.nextDue = function (after) {
      const next = nextDue.call(this, after);
      const isRecorded = Date.now() - (endpoint.asked.at(-1)?.at ?? 0) > 15;
      // Nothing but the endpoint is waited for; meanwhile it may be asked again.
      if (next === null && isRecorded) for (const until = performance.now() + 300; performance.now() < until;);
      return next;
    };
    try {
      endpoint.reset(() => ({ do: 'status', status: 503 }));
      const judge = await bench.make({ name: 'Awake' });
      const spans = await api.post(...Array.from({ length: 30 }, () => finished()));
      await eventually(
        async () => endpoint.asked.length,
        (count) => count >= 14,
      );
      endpoint.reset();
      await evaluated(judge, spans, 20);
    } finally {
      SqliteRunStore.prototype.nextDue = nextDue;
    }
  }).timeout(75_000);
});
