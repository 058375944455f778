import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { JudgeBench } from '../http/judges/judge-api.js';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

describe('README: your first judge', () => {
  it('works as it is written', async () => {
    const bench = await JudgeBench.boot();
    const { server, endpoint } = bench;
    try {
      const section = /<!-- judge:start -->[^]*?```bash\n([^]*?)```[^]*?<!-- judge:end -->/.exec(readme)?.[1] ?? '';
      const command = /^alias house='(.*)'$/m.exec(readme)?.[1] ?? '';
      // Answers stand one behind the other; a line break after each tells them apart.
      const house = `house() { ${command} -w '\\n' "$@"; }`;
      const script = ['set -e', house, section.replaceAll('http://127.0.0.1:4318', '$BASE')].join('\n');
      const { url, key, projectId } = server;
      const { stdout } = await promisify(execFile)('bash', ['-c', script], {
        env: { PATH: process.env['PATH'] ?? '', BASE: url, SPANHOUSE_KEY: key, PROJECT: projectId },
      });
      const [[span], evaluations, explanation, run] = stdout
        .split(/\n(?=[[{])/)
        .filter((text) => text.trim() !== '')
        .map((text) => JSON.parse(text));
      expect(evaluations).to.include({ span_id: span.id });
      expect(evaluations.evaluations).to.have.length(1);
      expect(evaluations.evaluations[0]).to.include({ judge_name: 'Answers the question', evaluation_result: true });
      expect(explanation).to.include({ answer: 'evaluated' });
      expect(run.queued, 'the call of the judge is no span to be judged').to.equal(1);
      expect(endpoint.asked[0]?.body.messages[0].content).to.contain('Does the output answer the question');
    } finally {
      await bench.dispose();
    }
  }).timeout(30_000);
});
