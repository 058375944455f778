import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { idsOf, LearningApi } from './learning-api.js';
import { examplesIn, ScriptedModel, shown, verdict, type Asked } from './scripted-model.js';

const TOPICS = ['refund', 'weather', 'lamp', 'shipping', 'invoice', 'holiday'];
const topicOf = (text: string) => TOPICS.find((topic) => text.includes(topic)) ?? '';
/** What people hold to be right: it depends on the topic, which the judge cannot know. */
const isRight = (topic: string) => TOPICS.indexOf(topic) % 2 === 0;

/** Passes everything, unless an example shows what is right for the topic. */
function judgeByExamples(asked: Asked) {
  const topic = topicOf(shown(asked, 'input'));
  const example = examplesIn(asked).find(({ input }) => topicOf(input ?? '') === topic);
  return verdict(example?.right.passed ?? true);
}

describe('calibration of a judge', function () {
  this.timeout(60_000);
  let model: ScriptedModel;
  let api: LearningApi;

  before(async () => {
    model = await ScriptedModel.start(judgeByExamples);
    api = await LearningApi.boot(model);
  });
  beforeEach(() => {
    model.script = judgeByExamples;
    model.delayMs = 0;
    model.asked.length = 0;
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  /** Spans about all topics in turn. */
  const send = async (ids: readonly string[]) => {
    const topic = (index: number) => TOPICS[index % TOPICS.length] ?? '';
    await api.spans(
      ids.map((id, index) => ({
        id,
        input_data: `About ${topic(index)}, question ${index}`,
        output_data: 'An answer.',
      })),
    );
    return new Map(ids.map((id, index) => [id, topic(index)]));
  };

  /** Evaluates and lets a person say of each whether that was right. */
  const round = async (judge: any, ids: readonly string[]) => {
    const topics = await send(ids);
    const evaluations = await api.evaluate(judge, ids);
    expect([...evaluations.keys()].sort()).to.deep.equal([...ids].sort());
    for (const [id, topic] of topics) {
      const thumbs_up = evaluations.get(id).evaluation_result === isRight(topic);
      await api.review(judge, id, { thumbs_up, ...(thumbs_up ? {} : { reason: `${topic} is different` }) });
    }
    return evaluations;
  };

  it('closes the loop: corrections raise agreement from one version to the next, and on held-out spans', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}`;
    await round(judge, idsOf(1000, 12, 12));
    const first = await api.get(`${path}/calibration`);
    expect(first).to.deep.include({
      judge_id: judge.id,
      count: 24,
      agreed: 12,
      rate: 0.5,
      kappa: 0,
      spans: 24,
      kappa_version: 'v1',
      kappa_of_all: 0,
    });
    expect(first.verdicts).to.deep.equal({
      both_pass: 12,
      judge_pass_human_fail: 12,
      judge_fail_human_pass: 0,
      both_fail: 0,
    });
    expect(first.rate_interval.low).to.be.within(0.3, 0.4);

    const second = await round(judge, idsOf(2000, 12, 12));
    expect(new Set([...second.values()].map(({ judge_version }) => judge_version)).size).to.equal(1);
    expect(second.get(idsOf(2000, 1, 1)[0]!).judge_version).to.match(/\/e24$/);

    const report = await api.get(`${path}/calibration`);
    expect(report.count).to.equal(48);
    expect(report.by_week).to.have.length(1);
    // Half of all verdicts were right by the first version, and all by the second.
    expect(report).to.deep.include({ kappa: 1, kappa_version: 'v2', kappa_of_all: 0.5 });
    const { figures } = (await api.get(`${api.project}/judges?include=figures`)).find(({ id }: any) => id === judge.id);
    expect(figures).to.deep.include({ kappa: 1, kappa_version: 'v2', kappa_interval: report.kappa_interval });
    const [v1, v2, ...more] = report.by_version;
    expect(more).to.deep.equal([]);
    expect(v1).to.deep.include({ version: 'v1', prompt_version: 1, examples: { from: 0, to: 0 }, rate: 0.5, kappa: 0 });
    expect(v2).to.deep.include({ version: 'v2', prompt_version: 1, examples: { from: 24, to: 24 }, rate: 1, kappa: 1 });
    // More than by chance: the intervals do not touch.
    expect(v2.rate_interval.low).to.be.greaterThan(v1.rate_interval.high);

    const plot = await api.server.request('GET', `${path}/calibration.svg`);
    expect(plot.headers.get('content-type')).to.equal('image/svg+xml');
    expect(plot.text).to.include('v1: 50% of 24, κ 0.00; v2: 100% of 24, κ 1.00');

    const asked = await api.expect(202, 'POST', `${path}/calibration:evaluate`, {});
    expect(asked).to.deep.include({ judge_id: judge.id, held_out: 24, examples: 24, prompt_version: 1, result: null });
    const trial = await api.finished(`${path}/calibration/evaluations/${asked.id}`);
    expect(trial).to.deep.include({ status: 'done', total: 48, done: 48, error: null, phase: null });
    const { before, after, difference, difference_interval: interval, improved, worsened, spans } = trial.result;
    expect(before).to.deep.include({ count: 24, agreed: 12, rate: 0.5, kappa: 0 });
    expect(after).to.deep.include({ count: 24, agreed: 24, rate: 1, kappa: 1 });
    expect({ difference, improved, worsened }).to.deep.equal({ difference: 0.5, improved: 12, worsened: 0 });
    expect(interval.low).to.be.greaterThan(0.2);
    expect(before.spent).to.deep.include({ calls: 24, input_tokens: 2400, output_tokens: 240 });
    expect(before.spent.cost).to.be.closeTo((24 * (100 * 0.15 + 10 * 0.6)) / 1e6, 1e-9);
    expect(spans).to.have.length(24);
    expect(await api.get(`${path}/calibration/evaluations`)).to.deep.equal([
      Object.fromEntries(Object.entries(trial).filter(([name]) => name !== 'result')),
    ]);
    const named = (await api.get(`${api.project}/internal-usage`)).groups.map((of: Record<string, unknown>) => [
      of['purpose'],
      of['id'],
      of['name'],
      of['subject_id'],
    ]);
    expect(named).to.have.deep.members([
      ['judge', judge.id, judge.name, judge.id],
      ['calibration', asked.id, judge.name, judge.id],
    ]);
    // Nothing of the trial is an evaluation, and so no evidence.
    expect((await api.get(`${path}/evaluations?limit=1`)).total).to.equal(48);
    const calls = await api.get(`/spans?spanhouse.calibration=${asked.id}&fields=id,tags,cost,trace_id`);
    expect(calls).to.have.length(48);
    expect(new Set(calls.map(({ trace_id }: any) => trace_id)).size).to.equal(1);
    expect(calls[0].tags).to.include({ 'spanhouse.judge': judge.id });
  });

  it('shows examples of other spans alone, and in the trial those of the other half alone', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}`;
    const ids = idsOf(3000, 6, 6);
    await round(judge, ids);
    model.asked.length = 0;
    await api.evaluate(judge, ids);
    for (const asked of model.asked) {
      const inputs = examplesIn(asked).map(({ input }) => input);
      expect(inputs).to.have.length(11);
      expect(inputs).to.not.include(shown(asked, 'input'));
    }
    model.asked.length = 0;
    const { id } = await api.expect(202, 'POST', `${path}/calibration:evaluate`, { max_spans: 5 });
    const trial = await api.finished(`${path}/calibration/evaluations/${id}`);
    expect(trial.result.compared).to.equal(5);
    const held = new Set(model.asked.map((asked) => shown(asked, 'input')));
    const withExamples = model.asked.filter((asked) => examplesIn(asked).length > 0);
    expect([held.size, model.asked.length, withExamples.length]).to.deep.equal([5, 10, 5]);
    for (const asked of withExamples) {
      expect(examplesIn(asked)).to.have.length(6);
      for (const { input } of examplesIn(asked)) expect(held.has(input ?? '')).to.equal(false);
    }
  });

  it('tells what corrections add to each call, as much as they do', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}`;
    const perCall = async () => (await api.get(`${path}/calibration`)).corrections_per_call;
    expect(await perCall()).to.equal(null);
    const ids = idsOf(3600, 6, 6);
    await round(judge, ids);
    const { corrections, input_tokens, cost, ...rest } = await perCall();
    expect(rest).to.deep.equal({ model: 'gpt-4o-mini', cost_unknown_reason: null });
    expect(corrections).to.equal(12);
    expect(cost).to.be.closeTo((input_tokens * 0.15) / 1e6, 1e-12);
    const more = idsOf(3700, 1, 1);
    await send(more);
    model.asked.length = 0;
    await api.evaluate(judge, more);
    const shownAs = model.asked[0]!.messages.slice(1, -1).reduce((sum, { content }) => sum + content.length, 0);
    expect(input_tokens).to.be.closeTo(shownAs / 4, shownAs / 40);
    const other = await api.judge({ model: 'nobody-sells-this' });
    await round(other, idsOf(3800, 1, 1));
    expect(await api.get(`${api.project}/judges/${other.id}/calibration`))
      .to.have.property('corrections_per_call')
      .that.deep.includes({ model: 'nobody-sells-this', cost: null });
    await api.server.request('DELETE', path);
    expect(await perCall()).to.equal(null);
  });

  it('a correction counts from the next evaluation on, and a changed one too', async () => {
    const judge = await api.judge();
    const [a, b, c] = [uuid(4001), uuid(4002), uuid(4003)];
    await api.spans([a, b, c].map((id) => ({ id, input_data: 'About weather', output_data: 'An answer.' })));
    await api.evaluate(judge, [a]);
    await api.review(judge, a, { thumbs_up: false, reason: 'no weather here' });
    const changed = await api.evaluate(judge, [b]);
    expect(changed.get(b)).to.include({ evaluation_result: false });
    expect(examplesIn(model.asked.at(-1)!)[0]).to.deep.include({
      you_were: 'wrong',
      right: { passed: false, reason: 'no weather here' },
    });
    await api.review(judge, a, { thumbs_up: true });
    const back = await api.evaluate(judge, [c]);
    expect(back.get(c)).to.include({ evaluation_result: true });
    expect(back.get(c).judge_version).to.match(/\/e2$/);
  });

  it('reports scores: their mean error falls with corrections', async () => {
    model.script = (asked) => {
      const topic = topicOf(shown(asked, 'input'));
      const example = examplesIn(asked).find(({ input }) => topicOf(input ?? '') === topic);
      return JSON.stringify({ reason: 'r', score: example?.right.score ?? 9, confidence: 1 });
    };
    const judge = await api.judge({ evaluation_type: 'scored', score_min: 0, score_max: 10, pass_threshold: 5 });
    const path = `${api.project}/judges/${judge.id}/calibration`;
    for (const from of [5000, 5500]) {
      const ids = idsOf(from, 6, 6);
      const topics = await send(ids);
      const found = await api.evaluate(judge, ids);
      for (const [id, topic] of topics) {
        const expected_score = TOPICS.indexOf(topic);
        const { score } = found.get(id);
        const direction = { score_direction: score > expected_score ? 'too_high' : 'too_low' };
        const right = score === expected_score;
        await api.review(judge, id, { thumbs_up: right, expected_score, ...(right ? {} : direction) });
      }
    }
    const [v1, v2] = (await api.get(path)).by_version;
    expect(v1).to.include({ mean_absolute_score_error: 6.5, rate: 0, scores_compared: 12 });
    expect(v2).to.include({ mean_absolute_score_error: 0, rate: 1 });
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    const { result } = await api.finished(`${path}/evaluations/${id}`);
    expect(result.before.mean_absolute_score_error).to.be.greaterThan(3);
    expect(result.after.mean_absolute_score_error).to.equal(0);
    expect(result.spans[0].after.score).to.equal(result.spans[0].human.score);
    for (const { human } of result.spans) expect(human.evaluation_result).to.be.a('boolean').that.equals(human.passed);
  });

  it('goes on while the endpoint stumbles, and says which spans it could not evaluate', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}/calibration`;
    await round(judge, idsOf(6000, 6, 6));
    let calls = 0;
    model.script = (asked) => {
      calls += 1;
      if (calls % 3 === 0) return { status: 429, headers: { 'retry-after': '0' } };
      if (calls % 4 === 0) return { status: 500 };
      if (shown(asked, 'input').includes('question 0')) return 'no JSON at all';
      return judgeByExamples(asked);
    };
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    const { status, result, done, total } = await api.finished(`${path}/evaluations/${id}`);
    expect({ status, done, total }).to.deep.equal({ status: 'done', done: 12, total: 12 });
    expect(result.spans).to.have.length(6);
    expect(result.compared).to.equal(result.spans.filter(({ failure }: any) => failure === null).length);
    const failed = result.spans.filter(({ failure }: any) => failure !== null);
    expect(failed.length).to.equal(result.failed);
    for (const { change } of failed) expect(change).to.equal(null);
  });

  it('fails at once when the endpoint refuses the key, and says why', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}/calibration`;
    await round(judge, idsOf(6500, 6, 6));
    model.script = () => ({ status: 401 });
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    const failed = await api.finished(`${path}/evaluations/${id}`);
    expect(failed).to.deep.include({ status: 'failed', result: null });
    expect(failed.error).to.include('401');
    expect((await api.send('POST', `${path}/evaluations/${id}:cancel`)).status).to.equal(409);
  });

  it('can be cancelled', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}/calibration`;
    await round(judge, idsOf(7000, 6, 6));
    model.delayMs = 60_000;
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    await api.until(async () => ((await api.get(`${path}/evaluations/${id}`)).status === 'running' ? true : null));
    const cancelled = await api.expect(200, 'POST', `${path}/evaluations/${id}:cancel`);
    expect(cancelled).to.deep.include({ status: 'cancelled', result: null });
    expect((await api.send('POST', `${path}/evaluations/${id}:cancel`)).status).to.equal(409);
  });

  it('needs enough feedback, and says how much', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}/calibration`;
    const empty = await api.get(path);
    expect(empty).to.deep.include({ count: 0, rate: null, kappa: null, by_week: [], by_version: [], revision: 0 });
    await round(judge, idsOf(8000, 3, 5));
    const { status, json } = await api.send('POST', `${path}:evaluate`, {});
    expect(status).to.equal(409);
    expect(json.detail).to.include('4 spans').and.include('there are 3 and 5');
  });

  it('checks what it is sent', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}/calibration`;
    const status = async (method: string, at: string, body?: unknown) => (await api.send(method, at, body)).status;
    const bad = await api.send('GET', `${path}?start_date=soon&versions=all`);
    expect(bad.status).to.equal(422);
    expect(bad.json.errors.map(({ pointer }: any) => pointer).sort()).to.deep.equal(['?start_date', '?versions']);
    expect(await status('GET', `${path}?start_date=2026-02-01&end_date=2026-01-01`)).to.equal(422);
    expect(await status('GET', `${path}?start_date=2026-01-01&end_date=2026-01-01&versions=each`)).to.equal(200);
    for (const max_spans of [0, 1001, 1.5, 'ten'])
      expect(await status('POST', `${path}:evaluate`, { max_spans })).to.equal(422);
    expect(await status('POST', `${path}:evaluate`, [])).to.equal(422);
    const other = `${api.project}/judges/${uuid(1)}/calibration`;
    expect(await status('GET', other)).to.equal(404);
    expect(await status('POST', `${other}:evaluate`, {})).to.equal(404);
    expect(await status('GET', `${other}/evaluations`)).to.equal(404);
    expect(await status('GET', `${path}/evaluations/${uuid(1)}`)).to.equal(404);
    expect(await status('GET', `/projects/${uuid(1)}/judges/${judge.id}/calibration`)).to.equal(403);
    expect(await status('GET', `${api.project}/judges/x/calibration`)).to.equal(422);
  });

  it('of another project does not exist, and needs an endpoint to be measured', async () => {
    const bare = await LearningApi.boot(null);
    try {
      const judge = await bare.judge();
      const path = `${bare.project}/judges/${judge.id}/calibration`;
      const refused = await bare.send('POST', `${path}:evaluate`, {});
      expect(refused.status).to.equal(409);
      expect(refused.json.detail).to.include('JUDGE_LLM_BASE_URL');
      // An evaluation that ran elsewhere is calibrated all the same.
      await bare.expect(201, 'POST', `${bare.project}/judges/${judge.id}/evaluations`, {
        span_id: uuid(1),
        evaluation_result: true,
      });
      await bare.review(judge, uuid(1), { thumbs_up: false });
      const [external] = (await bare.get(path)).by_version;
      expect(external).to.deep.include({
        version: 'external',
        prompt_version: null,
        prompt_version_id: null,
        examples: null,
        count: 1,
        agreed: 0,
      });
      expect(await bare.get(path)).to.include({ revision: 1 });
    } finally {
      await bare.server.dispose();
    }
  });
});
