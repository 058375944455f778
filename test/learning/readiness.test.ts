import { expect } from 'chai';
import { isHeldOut } from '../../src/features/trials/held-out.js';
import { uuid } from '../harness/checked-api.js';
import { idsOf, LearningApi } from './learning-api.js';
import { ScriptedModel, verdict, type Asked } from './scripted-model.js';

const formOf = (asked: Asked) => asked.response_format?.json_schema?.name;

describe('what a trial or an optimization needs, said before it is asked for', function () {
  this.timeout(60_000);
  let model: ScriptedModel;
  let api: LearningApi;
  let slugs = 0;

  before(async () => {
    model = await ScriptedModel.start((asked) => {
      if (formOf(asked) === 'candidates')
        return JSON.stringify({ candidates: [{ content: 'Better {{shop}}.', rationale: 'r' }] });
      if (formOf(asked) === 'comparison') return JSON.stringify({ reason: 'r', equivalent: true });
      return formOf(asked) === 'verdict' ? verdict(true) : 'An output.';
    });
    api = await LearningApi.boot(model);
  });
  beforeEach(() => {
    model.delayMs = 0;
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  const newPrompt = async (...contents: string[]) => {
    const slug = `ready ${(slugs += 1)}`;
    const path = `${api.project}/prompts/${encodeURIComponent(slug)}`;
    const ensure = (content: string) =>
      api.expect(200, 'POST', `/v1/tasks/${encodeURIComponent(slug)}/prompt/versions/ensure`, { content });
    for (const content of contents) await ensure(content);
    const give = (id: string, feedback: Record<string, unknown>) =>
      api.expect(200, 'POST', `/v1/prompts/${encodeURIComponent(slug)}/completions/${id}/feedback`, feedback);
    return { slug, path, ensure, give, readiness: (query = '') => api.get(`${path}/optimizations:readiness${query}`) };
  };
  const enough = async (from: number, give: (id: string, feedback: Record<string, unknown>) => Promise<unknown>) => {
    const ids = idsOf(from, 3, 3);
    await api.spans(ids.map((id) => ({ id, input_data: 'q', output_data: 'a' })));
    for (const id of ids) await give(id, { thumbs_up: false, expected_output: 'b' });
  };

  it('of a judge: its report counts corrected spans of either half, and a 409 says the same', async () => {
    const judge = await api.judge();
    const path = `${api.project}/judges/${judge.id}`;
    const trial = async () => (await api.get(`${path}/calibration`)).trial;
    const next = (heldOut: number, training: number) =>
      `Give feedback on this judge's evaluations of more spans: 4 spans are needed in the held-out half and 1 in the ` +
      `training half; there are ${heldOut} and ${training}. A hash of the span id decides its half.`;
    const halves = (heldOut: number, training: number) => ({
      training: { needed: 1, have: training },
      held_out: { needed: 4, have: heldOut },
    });
    const refused = async () => {
      const { status, json } = await api.send('POST', `${path}/calibration:evaluate`, {});
      expect(status).to.equal(409);
      return json.detail as string;
    };
    expect(await trial()).to.deep.equal({ ready: false, ...halves(0, 0), next: next(0, 0) });
    expect(await refused()).to.equal(next(0, 0));
    const ids = idsOf(60_000, 4, 2);
    await api.spans(ids.map((id) => ({ id, input_data: 'q', output_data: 'a' })));
    await api.evaluate(judge, ids);
    const [last, ...others] = ids.filter(isHeldOut);
    for (const id of [...others, ...ids.filter((each) => !isHeldOut(each))])
      await api.review(judge, id, { judge_was_right: true });
    expect(await trial()).to.deep.equal({ ready: false, ...halves(3, 2), next: next(3, 2) });
    expect(await refused()).to.equal(next(3, 2));
    await api.review(judge, last!, { judge_was_right: false });
    const ready = { ready: true, ...halves(4, 2), next: 'Run a trial of the judge with `calibration:evaluate`' };
    expect(await trial()).to.deep.equal(ready);
    expect((await api.get(`${path}/calibration?end_date=2020-01-01`)).trial, 'whenever given').to.deep.equal(ready);
    const made = await api.expect(202, 'POST', `${path}/calibration:evaluate`, {});
    expect(made).to.include({ held_out: 4, examples: 2 });
    await api.finished(`${path}/calibration/evaluations/${made.id}`);
    await api.expect(204, 'DELETE', path);
    expect(await trial()).to.deep.equal({
      ...ready,
      ready: false,
      next: 'The judge is deleted and cannot be tested',
    });
  });

  it('of a prompt: how many completions of either half, and a 409 says the same', async () => {
    const { path, give, readiness, slug } = await newPrompt('You help {{shop}}.');
    const { id: judge_id, task_slug } = await api.judge();
    const empty = await readiness();
    expect(empty).to.deep.include({
      prompt_slug: slug,
      compared_by: 'model',
      judge_id: null,
      model: 'gpt-4o-mini',
      ready: false,
      training: { needed: 3, have: 0 },
      held_out: { needed: 3, have: 0 },
    });
    expect(empty.next)
      .to.include(
        'Give feedback on more completions of this prompt: training needs 3 completions with an expected output or a reason ',
      )
      .and.include('and has 0;')
      .and.include('needs 3 others with an expected output and has 0.');
    const { json } = await api.send('POST', `${path}/optimizations`, {});
    expect(json.detail).to.equal(empty.next);
    await enough(61_000, give);
    const more = idsOf(61_500, 2, 1);
    await api.spans(more.map((id) => ({ id, input_data: 'q', output_data: 'a' })));
    for (const id of more) await give(id, { thumbs_up: false, reason: 'r' });
    const next = 'Start an optimization with a POST to `optimizations`';
    const [training, held_out] = [{ needed: 3, have: 4 }, (have: number) => ({ needed: 3, have })];
    expect(await readiness()).to.deep.include({ ready: true, training, held_out: held_out(3), next });
    const judged = await readiness(`?judge_id=${judge_id}`);
    expect(judged).to.deep.include({ ready: true, training, held_out: held_out(5), compared_by: 'judge', judge_id });
    const own = `${api.project}/prompts/${encodeURIComponent(task_slug)}/optimizations:readiness?judge_id=${judge_id}`;
    expect((await api.get(own)).next).to.equal('The judge must be another judge: this prompt is its own instruction');
    for (const [query, status] of [
      [`?judge_id=${uuid(1)}`, 404],
      ['?base_version=7', 404],
      ['?base_version=0', 422],
      ['?judge_id=x', 422],
    ] as const)
      await api.expect(status, 'GET', `${path}/optimizations:readiness${query}`);
    await api.expect(404, 'GET', `${api.project}/prompts/no-such-prompt/optimizations:readiness`);
  });

  it('without a model endpoint says so', async () => {
    const bare = await LearningApi.boot(null);
    try {
      await bare.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'x' });
      const { id } = await bare.judge();
      const next = 'No model endpoint is configured: set JUDGE_LLM_BASE_URL';
      expect(await bare.get(`${bare.project}/prompts/p/optimizations:readiness`)).to.include({ model: null, next });
      expect((await bare.get(`${bare.project}/judges/${id}/calibration`)).trial).to.include({ ready: false, next });
    } finally {
      await bare.server.dispose();
    }
  });

  it('says which version would be improved, and why; the optimization says it, too', async () => {
    const { slug, path, give, readiness } = await newPrompt('One {{shop}}.', 'Two {{shop}}.', 'Three {{shop}}.');
    await enough(62_000, give);
    const latest = {
      base_version: 3,
      base_version_reason: 'It is the latest version, and the tag production is not pinned',
    };
    expect(await readiness()).to.include({ ...latest, prompt_slug: slug });
    await api.expect(200, 'POST', `${path}/tags/production:pin`, { version: 2 });
    const pinned = { base_version: 2, base_version_reason: 'The tag production points to it' };
    expect(await readiness()).to.include(pinned);
    const asked = { base_version: 1, base_version_reason: 'It was asked for' };
    expect(await readiness('?base_version=1')).to.include(asked);

    for (const [body, expected, content] of [
      [{}, pinned, 'Two {{shop}}.'],
      [{ base_version: 1 }, asked, 'One {{shop}}.'],
      [{ base_version: null }, pinned, 'Two {{shop}}.'],
    ] as const) {
      const made = await api.expect(202, 'POST', `${path}/optimizations`, { candidates: 1, ...body });
      expect(made).to.include(expected);
      const done = await api.finished(`${path}/optimizations/${made.id}`);
      expect(done).to.include({ status: 'done', ...expected });
      expect(done.result.current.content).to.equal(content);
      expect((await api.get(`${path}/optimizations`))[0]).to.include({ id: made.id, ...expected });
    }
    await api.expect(204, 'DELETE', `${path}/tags/production`);
    expect(await readiness(), 'without the tag').to.include(latest);
  });

  it('keeps the base version of an optimization until it has ended, and forgets what a deleted version was', async () => {
    const { path, give } = await newPrompt('One {{shop}}.', 'Two {{shop}}.');
    await enough(63_000, give);
    model.delayMs = 60_000;
    const slow = await api.expect(202, 'POST', `${path}/optimizations`, { candidates: 1, base_version: 1 });
    const refused = await api.expect(409, 'DELETE', `${path}/versions/1`);
    expect(refused.detail).to.equal(`Version 1 cannot be deleted: optimizations of it are unfinished: ${slow.id}`);
    await api.expect(200, 'POST', `${path}/optimizations/${slow.id}:cancel`);
    await api.expect(204, 'DELETE', `${path}/versions/1`);

    model.delayMs = 0;
    const { id } = await api.expect(202, 'POST', `${path}/optimizations`, { candidates: 1 });
    const done = await api.finished(`${path}/optimizations/${id}`);
    const [candidate] = done.result.candidates;
    const promote = () =>
      api.expect(200, 'POST', `${path}/optimizations/${id}:promote`, { candidate_id: candidate.id });
    const promotedVersion = async () =>
      (await api.get(`${path}/optimizations/${id}`)).result.candidates[0].promoted_version;
    expect(await promote()).to.include({ version: 3, content: 'Better {{shop}}.' });
    expect(await promotedVersion()).to.equal(3);
    await api.expect(204, 'DELETE', `${path}/versions/3`);
    expect(await promotedVersion()).to.equal(null);
    expect(await promote()).to.include({ version: 4, content: 'Better {{shop}}.' });
    expect(await promotedVersion()).to.equal(4);
    await api.expect(204, 'DELETE', `${path}/versions/4`);
    const last = await api.expect(409, 'DELETE', `${path}/versions/2`);
    expect(last.detail).to.include('its prompt has feedback').and.include('there are optimizations of its prompt');
  });
});
