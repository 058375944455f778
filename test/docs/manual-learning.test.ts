import { expect } from 'chai';
import { idsOf, LearningApi } from '../learning/learning-api.js';
import { ScriptedModel, shown, verdict } from '../learning/scripted-model.js';
import { answersOf, blocks, chapter } from './commands.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Json = any;

describe('manual: judges and prompts that improve', function () {
  this.timeout(60_000);
  let model: ScriptedModel;
  let api: LearningApi;
  let judge: Json;
  /** The span that the judge evaluated first. */
  let first: string;
  const ids = idsOf(50_000, 5, 5);

  before(async () => {
    model = await ScriptedModel.start((asked) => {
      const form = asked.response_format?.json_schema?.name;
      const contents = ['Say which day, {{shop}}.', 'Be exact, {{shop}}.', 'Name a date, {{shop}}.'];
      if (form === 'candidates')
        return JSON.stringify({ candidates: contents.map((content) => ({ content, rationale: 'r' })) });
      if (form === 'verdict') return verdict(shown(asked, 'output').includes('day'));
      if (form === 'comparison') {
        const equivalent = shown(asked, 'expected') === 'On Friday.' && shown(asked, 'output').includes('day');
        return JSON.stringify({ reason: 'r', equivalent });
      }
      return `Soon. ${asked.messages[0]?.content ?? ''}`;
    });
    api = await LearningApi.boot(model);
    judge = await api.judge();
    await api.expect(200, 'POST', '/v1/tasks/support/prompt/versions/ensure', { content: 'You help {{shop}}.' });
    await api.spans(ids.map((id) => ({ id, input_data: `Where is it? ${id}`, output_data: 'On its way.' })));
    for (const id of ids)
      await api.expect(200, 'POST', `/v1/prompts/support/completions/${id}/feedback`, {
        thumbs_up: false,
        expected_output: 'On Friday.',
      });
    const evaluated = [...(await api.evaluate(judge, ids)).keys()];
    for (const id of evaluated.slice(1)) await api.review(judge, id, { thumbs_up: true });
    first = evaluated[0]!;
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  it('correct a judge and watch it improve', async () => {
    const [said, report, begun, ...more] = await answersOf(blocks(chapter('calibration'))[0] ?? '', api.server);
    expect(more).to.deep.equal([]);
    expect(said).to.include({ completion_id: first, judge_was_right: false, judge_id: judge.id });
    expect(report).to.include({ count: 10, agreed: 9, rate: 0.9 });
    expect(report.trial).to.deep.include({ ready: true, held_out: { needed: 4, have: 5 } });
    const trial = await api.finished(`${api.project}/judges/${judge.id}/calibration/evaluations/${begun.id}`);
    expect(trial).to.include({ status: 'done', held_out: 5, examples: 5 });
    expect(trial.result.compared).to.equal(5);
  });

  it('better prompts from expected outputs', async () => {
    const [ready, job, promoted, ...more] = await answersOf(blocks(chapter('optimizations'))[0] ?? '', api.server);
    expect(more).to.deep.equal([]);
    expect(ready).to.deep.include({ ready: true, base_version: 1, training: { needed: 3, have: 5 } });
    expect(job.status).to.equal('done');
    const [best] = job.result.candidates;
    expect(job.result.compared_by).to.equal('model');
    expect(best).to.include({ content: 'Say which day, {{shop}}.', wins: 5 });
    expect(promoted).to.include({ version: 2, content: best.content });
  });
});
