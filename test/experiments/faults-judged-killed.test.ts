import { expect } from 'chai';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { eventually, type Json } from '../judges/judge-api.js';
import { ModelEndpoint } from '../judges/model-endpoint.js';

const ROWS = 60;

describe('results that wait for a judge when the program is killed', () => {
  it('are each evaluated once after the next start, by the version that was asked for', async () => {
    const dataDir = await freshDataDir('spanhouse-judged-');
    const endpoint = await ModelEndpoint.start();
    const env = { JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'gpt-4o-mini', JUDGE_CONCURRENCY: '4' };
    let program = await Program.start(dataDir, env);
    try {
      await program.ask('POST', '/v1/datasets', { name: 'qa' });
      const rows = Array.from({ length: ROWS }, (_none, index) => ({ id: `r${index + 1}`, question: 'Q' }));
      await program.ask('POST', '/v1/datasets/qa/versions', { rows });
      const of: Json = await program.ask('POST', 'experiments', { name: 'tried', dataset: 'qa' });
      const results = rows.map(({ id }) => ({ row_id: id, output_data: `Said ${id}` }));
      await program.ask('POST', `experiments/${of['id']}/results`, results);
      const judge: Json = await program.ask('POST', 'judges', {
        ...{ name: 'j', evaluation_type: 'binary', prompt: 'The first instruction: {{row.question}} {{output}}' },
      });
      endpoint.reset(() => ({ do: 'hang' }));
      const path = `judges/${judge['id']}`;
      const asked: Json = await program.ask('POST', `${path}:run`, { experiment_id: of['id'] });
      expect(asked).to.include({ queued: ROWS, left: 0 });
      await program.ask('PATCH', path, { prompt: 'Another instruction' });
      program.signal('SIGKILL');
      await program.ended;
      endpoint.reset();
      program = Program.spawn(dataDir, env);
      await program.ready();
      const again: Json = await program.ask('POST', `${path}:run`, { experiment_id: of['id'] });
      expect(again).to.include({ queued: 0, judge_version: asked['judge_version'] });
      const { judges } = await eventually(
        () => program.ask('GET', `experiments/${of['id']}`) as Promise<Json>,
        (found) => found['judges'][0].evaluated === ROWS,
      );
      expect(judges).to.have.length(1);
      expect(judges[0]).to.include({ judge_version: asked['judge_version'], pending: 0, failed: 0 });
      expect((await program.ask('GET', `${path}/evaluations?limit=500`)).total).to.equal(ROWS);
      const texts = endpoint.asked.map(({ body }) => JSON.stringify(body.messages));
      expect(texts.filter((text) => !text.includes('The first instruction'))).to.deep.equal([]);
    } finally {
      await program.destroy();
      await endpoint.stop();
      await removeDirectory(dataDir);
    }
  }).timeout(120_000);
});
