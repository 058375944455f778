import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { eventually, type Json } from '../judges/judge-api.js';
import { ModelEndpoint, type Script } from '../judges/model-endpoint.js';

const ROWS = 130;
/** Calls that the endpoint is asked at once. */
const AT_ONCE = 4;
/** What the endpoint answers between two starts; then it hangs, so that a kill always comes before the end. */
const ANSWERED = 60;

describe('a run of an experiment when the program is killed', function () {
  this.timeout(120_000);
  let dataDir: string;
  let endpoint: ModelEndpoint;
  let program: Program;
  const env = () => ({ JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_CONCURRENCY: String(AT_ONCE) });

  before(async () => {
    dataDir = await freshDataDir('spanhouse-runs-');
    endpoint = await ModelEndpoint.start();
    program = await Program.start(dataDir, env());
  });
  after(async () => {
    await program.destroy();
    await endpoint.stop();
    await removeDirectory(dataDir);
  });

  it('leaves no experiment without its job, whenever the program is killed', async () => {
    await program.ask('POST', '/v1/datasets', { name: 'few' });
    await program.ask('POST', '/v1/datasets/few/versions', { rows: [{ id: 'r' }] });
    await program.ask('POST', '/v1/tasks/few/prompt/versions/ensure', { content: 'Hi' });
    endpoint.reset(() => ({ do: 'hang' }));
    const body = { dataset: 'few', prompt_slug: 'few', model: 'gpt-4o' };
    const asked = Array.from({ length: 8 }, () => program.ask('POST', 'experiments:run', body).catch(() => undefined));
    await Promise.race(asked);
    await program.destroy();
    await Promise.all(asked);
    program = await Program.start(dataDir, env());
    const { experiments } = await program.ask('GET', 'experiments?dataset=few');
    expect(experiments).to.have.length.above(0);
    for (const { id, run } of experiments) {
      expect(run?.status, id).to.be.oneOf(['queued', 'running']);
      await program.ask('POST', `experiments/${id}:cancel`);
    }
  });

  it('goes on with what is missing, and asks nothing again that is stored', async () => {
    const rows = Array.from({ length: ROWS }, (_none, index) => ({ id: `r${index}`, question: `Question ${index}.` }));
    await program.ask('POST', '/v1/datasets', { name: 'tickets' });
    await program.ask('POST', '/v1/datasets/tickets/versions', { rows });
    await program.ask('POST', '/v1/tasks/support/prompt/versions/ensure', { content: '{{question}}' });
    const answer = (last: string): Script => ({ do: 'answer', content: `Re: ${last}`, delayMs: 20 });
    endpoint.reset(({ last }, index) => (index < ANSWERED ? answer(last) : { do: 'hang' }));
    const { id } = await program.ask('POST', 'experiments:run', {
      ...{ dataset: 'tickets', prompt_slug: 'support', model: 'gpt-4o', max_cost: 100 },
    });
    const results = async (): Promise<Json[]> =>
      (await program.ask('GET', `experiments/${id}/results?limit=500`)).results;
    for (let stored = 40; stored <= 80; stored += 40) {
      await eventually(results, ({ length }) => length >= stored);
      const before = await results();
      await program.destroy();
      expect(before.length).to.be.below(ROWS);
      const asked = new Set(before.map(({ output_data }) => output_data));
      await sleep(50);
      endpoint.reset(stored < 80 ? endpoint.script : ({ last }) => answer(last));
      program = await Program.start(dataDir, env());
      await eventually(
        async () => endpoint.asked.length,
        (calls) => calls > 0,
      );
      expect(endpoint.asked.filter(({ last }) => asked.has(`Re: ${last}`))).to.deep.equal([]);
    }
    const ended = await eventually(
      () => program.ask('GET', `experiments/${id}`),
      ({ status }) => status === 'finished',
    );
    expect(ended.run).to.deep.include({ status: 'done', total: ROWS, done: ROWS, error: null });
    expect(ended.figures).to.deep.include({ results: ROWS, rows: ROWS, errors: 0 });
    // What was asked again has replaced what was stored of it, so that nothing counts twice.
    expect(ended.figures.cost).to.be.closeTo(ROWS * 0.0035, 1e-6);
    expect((await results()).map(({ output_data }) => output_data).sort()).to.deep.equal(
      rows.map(({ question }) => `Re: ${question}`).sort(),
    );
    expect((await program.ask('GET', `experiments/${id}/missing`)).total).to.equal(0);
  });
});
