import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DELETION_STEPS, type DeletionStep } from '../../src/features/deletion/deletion-work.js';
import { storedFiles } from '../attachments/attachment-api.js';
import { LearningApi } from '../learning/learning-api.js';
import { ScriptedModel } from '../learning/scripted-model.js';
import { uuid } from '../harness/checked-api.js';
import { rowsHolding, untilGone } from './tombstone-gc.js';
import { askAgain, expectOthers, makeScene, remainsOf, remove, scripted, secretOf, type Doomed } from './scene.js';

describe('deleting spans, traces and sessions', function () {
  this.timeout(120_000);
  let model: ScriptedModel;
  let api: LearningApi;
  /** What a test does at each step of a deletion, until the next start. */
  let atStep: (step: DeletionStep) => void = () => undefined;
  const onDeletionStep = (step: DeletionStep) => atStep(step);

  before(async () => {
    model = await ScriptedModel.start(scripted);
    api = await LearningApi.boot(model, { onDeletionStep });
  });
  beforeEach(() => {
    model.delayMs = 0;
    model.after = Promise.resolve();
    model.script = scripted;
    atStep = () => undefined;
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  /** Another server on the same data. */
  async function restart(): Promise<void> {
    const { dataDir } = api.server;
    await api.server.stop();
    atStep = () => undefined;
    api = await LearningApi.boot(model, { onDeletionStep, dataDir });
  }

  for (const kind of ['span', 'trace', 'session'] satisfies Doomed[])
    it(`removes a ${kind} with all that belongs to it, at once and after a restart`, async () => {
      const scene = await makeScene(api, kind);
      const [first = ''] = scene.doomed;
      const calls = await api.get(`/spans?spanhouse.judge=${scene.judge.id}&limit=500`);
      const holding = (texts: unknown) => JSON.stringify(texts).split(secretOf(first)).length - 1;
      expect(holding(calls), 'calls about it, and that showed it').to.be.greaterThan(2);
      expect(rowsHolding(api.server.dataDir, [secretOf(first)])).to.have.length.greaterThan(5);
      const [{ url }] = (await api.get(`/spans/${first}/attachments`)).attachments;
      expect((await fetch(url)).status).to.equal(200);

      expect((await remove(api, scene)).status).to.equal(204);
      expect(await remainsOf(api, scene)).to.deep.equal([]);
      expect((await fetch(url)).status).to.equal(404);
      expect(await storedFiles(api.server.dataDir)).to.deep.equal([]);
      await expectOthers(api, scene);
      expect((await remove(api, scene)).status).to.equal(404);
      expect(JSON.stringify(await askAgain(api, model.asked, scene))).to.not.include(secretOf(first));

      await restart();
      expect(await remainsOf(api, scene)).to.deep.equal([]);
      await expectOthers(api, scene);
      expect(JSON.stringify(await askAgain(api, model.asked, scene))).to.not.include(secretOf(first));
    });

  for (const step of DELETION_STEPS)
    it(`completes by the next start what was cut off before the step ${step}`, async () => {
      let cut = false;
      atStep = (at) => {
        if (!cut && at !== step) return;
        cut = true;
        throw new Error('cut off by the test');
      };
      const scene = await makeScene(api, 'session');
      expect((await remove(api, scene)).status).to.equal(500);
      await restart();
      expect(await remainsOf(api, scene)).to.deep.equal([]);
      expect(await storedFiles(api.server.dataDir)).to.deep.equal([]);
      await expectOthers(api, scene);
    });

  it('completes by itself what failed', async () => {
    let failures = 2;
    atStep = (at) => {
      if (at === 'records' && failures > 0) throw new Error(`failure ${(failures -= 1)} of the test`);
    };
    const id = uuid(810_000);
    await api.spans([{ id, input_data: secretOf(id) }]);
    expect((await remove(api, { kind: 'span', id })).status).to.equal(500);
    await untilGone(api.server.dataDir, [id]);
    expect(failures).to.equal(0);
  });

  it('is completed by the same request sent again, and deletes nothing that comes after that', async () => {
    let failures = 1;
    atStep = (at) => {
      if (at === 'records' && failures > 0) throw new Error(`failure ${(failures -= 1)} of the test`);
    };
    const id = uuid(810_500);
    const feedback = (reason: string) =>
      api.expect(200, 'POST', `/v1/prompts/again/completions/${id}/feedback`, { thumbs_up: true, reason });
    await api.expect(200, 'POST', '/v1/tasks/again/prompt/versions/ensure', { content: 'x' });
    await api.spans([{ id }]);
    await feedback('the old one');
    expect((await remove(api, { kind: 'span', id })).status).to.equal(500);
    expect((await remove(api, { kind: 'span', id })).status).to.equal(204);
    await feedback('the new one');
    expect((await remove(api, { kind: 'span', id: uuid(810_501) })).status).to.equal(404);
    // The server's own second attempt would have come by now.
    await sleep(1_500);
    const { items } = await api.get(`${api.project}/feedback/span/${id}`);
    expect(items.map(({ reason }: any) => reason)).to.deep.equal(['the new one']);
  });

  it('takes a span that is sent again for a new one, also when the deletion of the old one was cut off', async () => {
    const id = uuid(811_000);
    const judge = await api.judge();
    const send = () => api.spans([{ id, input_data: 'again', output_data: 'again' }]);
    const path = `/v1/prompts/${encodeURIComponent(judge.task_slug)}/completions/${id}/feedback`;
    await send();
    // Changed later, it is the new one.
    await api.expect(200, 'POST', path, { thumbs_up: false, reason: 'the older one' });
    await api.evaluate(judge, [id]);
    await api.review(judge, id, { thumbs_up: false, reason: 'the old one' });
    let cut = false;
    atStep = (at) => {
      if (!cut && at !== 'records') return;
      cut = true;
      throw new Error('cut off by the test');
    };
    expect((await remove(api, { kind: 'span', id })).status).to.equal(500);
    await send();
    await sleep(10);
    await api.expect(200, 'POST', path, { thumbs_up: true, reason: 'the new one' });
    await restart();
    expect(await api.get(`/spans?id=${id}`)).to.have.length(1);
    const { summary, items } = await api.get(`${api.project}/feedback/span/${id}`);
    expect(summary).to.include({ human_feedback_count: 1, judge_evaluation_count: 0 });
    expect(items[0]).to.include({ reason: 'the new one' });
    await api.evaluate(judge, [id]);
  });

  for (const sent of [true, false])
    it(`leaves what is said after it failed of a span that is ${sent ? 'sent only then' : 'gone'}`, async () => {
      const id = uuid(sent ? 811_500 : 811_501);
      const judge = await api.judge();
      const path = `/v1/prompts/${encodeURIComponent(judge.task_slug)}/completions/${id}/feedback`;
      if (!sent) await api.spans([{ id }]);
      await api.expect(200, 'POST', path, { thumbs_up: false, reason: 'before' });
      let failing = true;
      atStep = (at) => {
        if (failing && at === 'words') throw new Error('a failure of the test');
      };
      expect((await remove(api, { kind: 'span', id })).status).to.equal(500);
      if (sent) await api.spans([{ id, input_data: 'late', output_data: 'late' }]);
      await sleep(10);
      await api.expect(200, 'POST', path, { thumbs_up: true, reason: 'after' });
      if (sent) await api.evaluate(judge, [id]);
      failing = false;
      await untilGone(api.server.dataDir, [`span/${id}`]);
      const { summary, items } = await api.get(`${api.project}/feedback/span/${id}`);
      expect(items.map(({ reason }: any) => reason)).to.include('after');
      expect(summary).to.include({ human_feedback_count: 1, judge_evaluation_count: sent ? 1 : 0 });
    });

  it('drops an evaluation that is under way, and what it had asked', async () => {
    const id = uuid(812_000);
    const judge = await api.judge();
    await api.spans([{ id, input_data: `about ${secretOf(id)}`, output_data: 'x' }]);
    model.delayMs = 600;
    model.asked.length = 0;
    await api.expect(202, 'POST', `${api.project}/judges/${judge.id}:run`, { span_ids: [id] });
    await api.until(async () => (model.asked.length > 0 ? true : null));
    expect((await remove(api, { kind: 'span', id })).status).to.equal(204);
    await sleep(1_000);
    expect(await remainsOf(api, { doomed: [id] })).to.deep.equal([]);
    expect((await api.get(`${api.project}/judges/${judge.id}/evaluations`)).total).to.equal(0);
    expect((await api.get(`${api.project}/judges/${judge.id}/runs`)).total).to.equal(0);
    expect(model.asked).to.have.length(1);
  });

  it('asks again without the example that was deleted while the model was being asked', async () => {
    const [told, id] = [uuid(813_000), uuid(813_001)];
    const judge = await api.judge();
    await api.spans([told, id].map((each) => ({ id: each, input_data: `about ${secretOf(each)}`, output_data: 'x' })));
    await api.evaluate(judge, [told]);
    await api.review(judge, told, { thumbs_up: false });
    model.script = (asked) => {
      // What is asked first has no answer until it is given up.
      model.delayMs = model.asked.length === 1 ? 60_000 : 0;
      return scripted(asked);
    };
    model.asked.length = 0;
    await api.expect(202, 'POST', `${api.project}/judges/${judge.id}:run`, { span_ids: [id] });
    await api.until(async () => (model.asked.length > 0 ? true : null));
    expect(JSON.stringify(model.asked)).to.include(secretOf(told));
    expect((await remove(api, { kind: 'span', id: told })).status).to.equal(204);
    await api.until(async () =>
      (await api.get(`${api.project}/judges/${judge.id}/evaluations`)).total === 1 ? true : null,
    );
    const [, ...again] = model.asked;
    expect(again).to.have.length(1);
    expect(JSON.stringify(again)).to.not.include(secretOf(told));
    expect(await remainsOf(api, { doomed: [told] })).to.deep.equal([]);
  });

  it('ends a job that works with a deleted span, and sends nothing of it any more', async () => {
    const scene = await makeScene(api, 'span');
    let release = (): void => undefined;
    model.after = new Promise<void>((resolve) => (release = resolve));
    model.asked.length = 0;
    const { id } = await api.expect(202, 'POST', `${api.project}/judges/${scene.judge.id}/calibration:evaluate`, {});
    const other = await api.expect(202, 'POST', scene.optimization.replace(/\/[^/]+$/, ''), { candidates: 1 });
    await api.until(async () => (model.asked.length > 1 ? true : null));
    expect((await remove(api, scene)).status).to.equal(204);
    model.asked.length = 0;
    release();
    const [first = ''] = scene.doomed;
    const optimization = scene.optimization.replace(/[^/]+$/, other.id as string);
    expect(await api.get(optimization)).to.include({
      status: 'failed',
      error: 'A span that the job uses was deleted; start the job again',
    });
    // It works with held-out spans alone, and may have been shown the deleted one as an example.
    const trial = await api.finished(`${api.project}/judges/${scene.judge.id}/calibration/evaluations/${id}`);
    expect(trial).to.include({ status: 'done' });
    expect(JSON.stringify(model.asked)).to.not.include(secretOf(first));
    expect(await remainsOf(api, scene)).to.deep.equal([]);
  });

  it('removes what was said of a span that never came, or came late', async () => {
    const id = uuid(814_000);
    await api.expect(200, 'POST', '/v1/tasks/late/prompt/versions/ensure', { content: 'x' });
    const feedback = { thumbs_up: true, reason: secretOf(id) };
    await api.expect(200, 'POST', `/v1/prompts/late/completions/${id}/feedback`, feedback);
    expect((await remove(api, { kind: 'span', id })).status).to.equal(204);
    expect(rowsHolding(api.server.dataDir, [id, secretOf(id)])).to.deep.equal([]);
    expect((await remove(api, { kind: 'span', id })).status).to.equal(404);
  });
});
