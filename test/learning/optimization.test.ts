import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isHeldOut } from '../../src/features/trials/held-out.js';
import { uuid } from '../harness/checked-api.js';
import { idsOf, LearningApi } from './learning-api.js';
import {
  BETTER,
  bonjour,
  CURRENT,
  isProposal,
  isVerdict,
  judge,
  OptimizationApi,
  question,
  script,
} from './optimization-api.js';
import { type ScriptedModel } from './scripted-model.js';

describe('optimisation of a prompt', function () {
  this.timeout(60_000);
  let optimizing: OptimizationApi;
  let model: ScriptedModel;
  let api: LearningApi;
  let judgeId: string;

  before(async () => {
    optimizing = await OptimizationApi.boot();
    ({ model, api, judgeId } = optimizing);
  });
  beforeEach(() => optimizing.reset());
  after(() => optimizing.dispose());

  it('closes the loop: expected outputs lead to a candidate that beats the current version, is promoted and served', async () => {
    const { slug, path, tasks, give } = await optimizing.newPrompt();
    const ids = idsOf(20_000, 8, 8);
    await optimizing.completions(ids, slug);
    for (const id of ids) await give(id, bonjour(id));
    // The first answer loses the placeholder; it is asked again.
    model.script = script((times) =>
      times === 1 ? ['Answer in French.', `${CURRENT} Be brief.`] : [BETTER, `${CURRENT} Be brief.`],
    );
    const body = { judge_id: judgeId, candidates: 2 };
    const queued = await api.expect(202, 'POST', path, body);
    expect(queued).to.deep.include({ prompt_slug: slug, base_version: 1, judge_id: judgeId, model: 'gpt-4o-mini' });
    expect(queued).to.deep.include({ training: 8, held_out: 8, result: null });

    const done = await api.finished(`${path}/${queued.id}`);
    expect(done).to.deep.include({ status: 'done', error: null, done: 2 + 2 * 3 * 8, total: 2 + 2 * 3 * 8 });
    const { current, candidates, metric, problem, spent } = done.result;
    expect({ metric, problem }).to.deep.equal({ metric: 'pass_rate', problem: null });
    expect(current).to.deep.include({ content: CURRENT, count: 8, passed: 0, pass_rate: 0, failed: 0 });
    const [best, other, ...more] = candidates;
    expect(more).to.deep.equal([]);
    expect(best).to.deep.include({ content: BETTER, pass_rate: 1, difference: 1, wins: 8, losses: 0, ties: 0 });
    expect(best.pass_rate_interval.low).to.be.greaterThan(current.pass_rate_interval.high);
    expect(other).to.deep.include({ content: `${CURRENT} Be brief.`, pass_rate: 0, difference: 0, ties: 8 });
    expect(best.results[0]).to.deep.include({ passed: true, output: best.results[0].expected_output });
    for (const { passed, evaluation_result } of best.results) expect(evaluation_result).to.equal(passed);
    expect(best.results.every(({ span_id }: any) => isHeldOut(span_id))).to.equal(true);
    expect(spent.calls).to.equal(50);
    expect(spent.cost).to.be.greaterThan(0);

    // What it was measured by, it was not shown.
    const [first, again] = model.asked.filter(isProposal);
    const shownAll = first!.messages.at(-1)!.content;
    for (const id of ids) expect(shownAll.includes(question(id)), id).to.equal(!isHeldOut(id));
    expect(again!.messages.at(-1)!.content).to.include('candidate 1').and.include('{{shop}}');

    // No candidate is a version before it is promoted.
    expect(await api.get(`${tasks}/latest`)).to.include({ version: 1, content: CURRENT });
    const promote = () => api.expect(200, 'POST', `${path}/${queued.id}:promote`, { candidate_id: best.id });
    const version = await promote();
    expect(version).to.deep.include({ version: 2, content: BETTER, model_id: 'gpt-4o-mini', is_latest: true });
    expect(version.metadata.optimization).to.deep.equal({
      id: queued.id,
      candidate_id: best.id,
      base_version: 1,
      judge_id: judgeId,
    });
    expect(await promote()).to.include({ id: version.id, version: 2 });
    expect(await api.get(`/v1/prompts/${encodeURIComponent(slug)}`)).to.include({ version: 2, content: BETTER });
    const promoted = (await api.get(`${path}/${queued.id}`)).result.candidates;
    expect(promoted.map(({ promoted_version }: any) => promoted_version)).to.deep.equal([2, null]);
    const [summary] = await api.get(path);
    expect(summary).to.include({ id: queued.id, status: 'done' }).and.not.have.property('result');

    // Every call is a span of the one trace of the job, which no judge evaluates by itself.
    const calls = await api.get(`/spans?spanhouse.optimization=${queued.id}&fields=id,trace_id,tags,kind,name`);
    expect(calls).to.have.length(50);
    expect(new Set(calls.map(({ trace_id }: any) => trace_id)).size).to.equal(1);
  });

  it('is not judged in turn, whatever a judge asks for', async () => {
    const eager = await api.judge({ name: 'eager', sample_rate: 1, filters: { kinds: ['llm'] } });
    const { slug, path, give } = await optimizing.newPrompt();
    const ids = idsOf(21_000, 3, 3);
    await optimizing.completions(ids, slug);
    for (const id of ids) await give(id, bonjour(id));
    model.script = script(() => [BETTER]);
    const { id } = await api.expect(202, 'POST', path, { judge_id: judgeId, candidates: 1 });
    await api.finished(`${path}/${id}`);
    // A span that came after all of them has been evaluated, so they were passed over.
    await api.spans([{ id: uuid(21_999), input_data: 'q', output_data: 'a' }]);
    const judged = () => api.get(`${api.project}/judges/${eager.id}/evaluations?limit=500`);
    await api.until(async () =>
      (await judged()).evaluations.some(({ span_id }: any) => span_id === uuid(21_999)) ? true : null,
    );
    const { evaluations } = await judged();
    expect(evaluations.map(({ span_id }: any) => span_id).sort()).to.deep.equal([...ids, uuid(21_999)].sort());
    await api.expect(204, 'DELETE', `${api.project}/judges/${eager.id}`);
  });

  it('compares by scores when the judge scores, and keeps what people liked', async () => {
    const scored = await api.judge({ evaluation_type: 'scored', score_min: 0, score_max: 10, pass_threshold: 5 });
    const { slug, path, give } = await optimizing.newPrompt();
    const ids = idsOf(22_000, 6, 6);
    await optimizing.completions(ids, slug);
    // Half of them were fine as they were.
    for (const [index, id] of ids.entries()) await give(id, index % 2 === 0 ? { thumbs_up: true } : bonjour(id));
    const byScript = script(() => [BETTER]);
    model.script = (asked) => {
      if (!isVerdict(asked)) return byScript(asked);
      return JSON.stringify({ reason: 'r', score: judge(asked).includes('true') ? 9 : 2, confidence: 1 });
    };
    const { id } = await api.expect(202, 'POST', path, { judge_id: scored.id, candidates: 1, max_examples: 6 });
    const { result } = await api.finished(`${path}/${id}`);
    const [candidate] = result.candidates;
    expect(result.metric).to.equal('score');
    const { wins, losses } = candidate as { wins: number; losses: number };
    expect(wins + losses).to.equal(6);
    expect(losses).to.be.greaterThan(0);
    expect(candidate.difference).to.be.closeTo((7 * (wins - losses)) / 6, 1e-9);
    expect(result.current.mean_score).to.be.closeTo((9 * losses + 2 * wins) / 6, 1e-9);
  });

  it('goes on with fewer candidates than asked for, and says why; without any it fails', async () => {
    const { slug, path, give } = await optimizing.newPrompt();
    const ids = idsOf(23_000, 3, 3);
    await optimizing.completions(ids, slug);
    for (const id of ids) await give(id, bonjour(id));
    model.script = script(() => [BETTER, CURRENT, 'no placeholder']);
    const some = await api.expect(202, 'POST', path, { judge_id: judgeId });
    const { result } = await api.finished(`${path}/${some.id}`);
    expect(result.candidates).to.have.length(1);
    expect(result.problem).to.include('{{shop}}').and.include('current one');
    model.script = () => 'I would rather talk about something else.';
    const none = await api.expect(202, 'POST', path, { judge_id: judgeId });
    const failed = await api.finished(`${path}/${none.id}`);
    expect(failed).to.deep.include({ status: 'failed', result: null });
    expect(failed.error).to.include('no usable candidate').and.include('JSON');
    expect(model.asked.filter(isProposal)).to.have.length(4);
    const refused = await api.send('POST', `${path}/${none.id}:promote`, { candidate_id: uuid(1) });
    expect(refused.status).to.equal(409);
    expect((await api.send('POST', `${path}/${some.id}:promote`, { candidate_id: uuid(1) })).status).to.equal(404);
  });

  it('begins with no version that is deleted meanwhile', async () => {
    const { slug, path, tasks, give } = await optimizing.newPrompt();
    const ids = idsOf(24_500, 3, 3);
    await optimizing.completions(ids, slug);
    for (const id of ids) await give(id, bonjour(id));
    await api.expect(200, 'POST', `${tasks}/versions/ensure`, { content: BETTER });
    model.script = script(() => [`${BETTER} Be brief.`]);
    const asked = api.send('POST', path, { judge_id: judgeId, base_version: 1 });
    // Until the request is read; then it waits for its spans.
    await sleep(4);
    const deleted = await api.send('DELETE', `${api.project}/prompts/${encodeURIComponent(slug)}/versions/1`);
    const { status, json } = await asked;
    // On a busy machine one of them may come and go before the other.
    expect(['204 409', '204 404', '409 202']).to.include(`${deleted.status} ${status}`);
    if (status === 409) expect(json.detail).to.equal('Version 1 was deleted in the meantime');
    expect(await api.get(path)).to.have.length(status === 202 ? 1 : 0);
  });

  it('can be cancelled, and is promoted from only when it is done', async () => {
    const { slug, path, give } = await optimizing.newPrompt();
    const ids = idsOf(24_000, 3, 3);
    await optimizing.completions(ids, slug);
    for (const id of ids) await give(id, bonjour(id));
    model.script = script(() => [BETTER]);
    model.delayMs = 60_000;
    const { id } = await api.expect(202, 'POST', path, { judge_id: judgeId });
    await api.until(async () => ((await api.get(`${path}/${id}`)).phase === 'proposing' ? true : null));
    expect((await api.send('POST', `${path}/${id}:promote`, { candidate_id: uuid(1) })).status).to.equal(409);
    expect(await api.expect(200, 'POST', `${path}/${id}:cancel`)).to.deep.include({
      status: 'cancelled',
      result: null,
    });
    expect((await api.send('POST', `${path}/${id}:cancel`)).status).to.equal(409);
  });

  it('needs enough feedback, and says how much', async () => {
    const { slug, path, give } = await optimizing.newPrompt();
    const refused = async () => {
      const { status, json } = await api.send('POST', path, { judge_id: judgeId });
      expect(status).to.equal(409);
      return json.detail as string;
    };
    expect(await refused())
      .to.include('3 completions')
      .and.include('and has 0;')
      .and.include('and has 0.');
    const ids = idsOf(25_000, 4, 4);
    for (const id of ids) await give(id, bonjour(id));
    expect(await refused(), 'feedback before its spans').to.include('and has 0;');
    await optimizing.completions(ids.filter(isHeldOut), slug);
    expect(await refused())
      .to.include('and has 0;')
      .and.include('and has 4.');
    await optimizing.completions(ids, slug);
    for (const id of ids.filter((each) => !isHeldOut(each))) await give(id, { thumbs_up: false });
    expect(await refused(), 'bare thumbs down').to.include('and has 0;');
  });

  it('checks what it is sent', async () => {
    const { path, slug } = await optimizing.newPrompt();
    const status = async (method: string, at: string, body?: unknown) => (await api.send(method, at, body)).status;
    expect(await status('POST', path, {}), 'no judge is needed').to.equal(409);
    for (const body of [
      [],
      { judge_id: 'x' },
      { judge_id: '' },
      { judge_id: 7 },
      { judge_id: judgeId, candidates: 0 },
      { judge_id: judgeId, candidates: 6 },
      { judge_id: judgeId, candidates: 1.5 },
      { judge_id: judgeId, model: '' },
      { judge_id: judgeId, model: 'a\nb' },
      { judge_id: judgeId, base_version: 0 },
      { judge_id: judgeId, max_examples: 0 },
      { judge_id: judgeId, max_examples: 201 },
    ])
      expect(await status('POST', path, body), JSON.stringify(body)).to.equal(422);
    expect(await status('POST', path, { judge_id: uuid(1) })).to.equal(404);
    expect(await status('POST', path, { judge_id: judgeId, base_version: 7 })).to.equal(404);
    const { task_slug, id: own } = await api.judge();
    const instruction = `${api.project}/prompts/${encodeURIComponent(task_slug)}/optimizations`;
    expect(await status('POST', instruction, { judge_id: own })).to.equal(422);
    const unknown = `${api.project}/prompts/no-such-prompt/optimizations`;
    expect(await status('POST', unknown, { judge_id: judgeId })).to.equal(404);
    expect(await status('GET', unknown)).to.equal(404);
    expect(await status('GET', `${path}/${uuid(1)}`)).to.equal(404);
    expect(await status('POST', `${path}/${uuid(1)}:cancel`)).to.equal(404);
    expect(await status('POST', `${path}/${uuid(1)}:promote`, { candidate_id: uuid(1) })).to.equal(404);
    expect(await status('POST', `${path}/${uuid(1)}:promote`, {})).to.equal(422);
    expect(await status('GET', `/projects/${uuid(1)}/prompts/${encodeURIComponent(slug)}/optimizations`)).to.equal(403);
    const bare = await LearningApi.boot(null);
    try {
      await bare.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'x' });
      const { id } = await bare.judge();
      const { status: code, json } = await bare.send('POST', `${bare.project}/prompts/p/optimizations`, {
        judge_id: id,
      });
      expect(code).to.equal(409);
      expect(json.detail).to.include('JUDGE_LLM_BASE_URL');
    } finally {
      await bare.server.dispose();
    }
  });
});
