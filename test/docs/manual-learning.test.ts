import { expect } from 'chai';
import { idsOf, LearningApi } from '../learning/learning-api.js';
import { ScriptedModel, shown, verdict } from '../learning/scripted-model.js';
import { blocks, chapter, run as runCommands } from './commands.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Json = any;

/** The commands of a chapter. */
function commandsOf(name: string): string[] {
  return (blocks(chapter(name))[0] ?? '').split(/\n(?=house )/);
}

describe('manual: judges and prompts that improve', function () {
  this.timeout(60_000);
  let model: ScriptedModel;
  let api: LearningApi;
  let env: Record<string, string>;
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
    const judge = await api.judge();
    await api.expect(200, 'POST', '/v1/tasks/support/prompt/versions/ensure', { content: 'You help {{shop}}.' });
    await api.spans(ids.map((id) => ({ id, input_data: `Where is it? ${id}`, output_data: 'On its way.' })));
    for (const id of ids)
      await api.expect(200, 'POST', `/v1/prompts/support/completions/${id}/feedback`, {
        thumbs_up: false,
        expected_output: 'On Friday.',
      });
    await api.evaluate(judge, ids);
    for (const id of ids.slice(1)) await api.review(judge, id, { thumbs_up: true });
    env = { JUDGE: judge.id, TASK: judge.task_slug, SPAN: ids[0]! };
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  async function run(command: string, more: Record<string, string> = {}): Promise<Json> {
    return JSON.parse(await runCommands(command, api.server, { ...env, ...more }));
  }

  const ended = (command: string, JOB: string) =>
    api.until(async () => {
      const job = await run(command, { JOB });
      return ['queued', 'running'].includes(job.status) ? null : job;
    });

  it('correct a judge and watch it improve', async () => {
    const [say, report, evaluate, follow, ...more] = commandsOf('calibration');
    expect(more).to.deep.equal([]);
    expect(await run(say!)).to.include({ completion_id: ids[0], judge_was_right: false, judge_id: env['JUDGE'] });
    const { trial: readiness, ...figures } = await run(report!);
    expect(figures).to.include({ count: 10, agreed: 9, rate: 0.9 });
    expect(readiness).to.deep.include({ ready: true, held_out: { needed: 4, have: 5 } });
    const { id } = await run(evaluate!);
    const trial = await ended(follow!, id);
    expect(trial).to.include({ status: 'done', held_out: 5, examples: 5 });
    expect(trial.result.compared).to.equal(5);
  });

  it('better prompts from expected outputs', async () => {
    const [ready, ask, follow, promote, ...more] = commandsOf('optimizations');
    expect(more).to.deep.equal([]);
    expect(await run(ready!)).to.deep.include({ ready: true, base_version: 1, training: { needed: 3, have: 5 } });
    const { id: JOB } = await run(ask!);
    const { status, result } = await ended(follow!, JOB);
    expect(status).to.equal('done');
    const [best] = result.candidates;
    expect(result.compared_by).to.equal('model');
    expect(best).to.include({ content: 'Say which day, {{shop}}.', wins: 5 });
    expect(await run(promote!, { JOB, CANDIDATE: best.id })).to.include({ version: 2, content: best.content });
  });
});
