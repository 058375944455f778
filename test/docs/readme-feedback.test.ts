import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { bootServer } from '../http/harness.js';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

/** Every JSON answer of the section's commands, in order. */
async function runSection(env: Record<string, string>): Promise<any[]> {
  const section = /<!-- feedback:start -->[^]*?```bash\n([^]*?)```[^]*?<!-- feedback:end -->/.exec(readme)?.[1] ?? '';
  const command = /^alias house='(.*)'$/m.exec(readme)?.[1] ?? '';
  // Answers stand one behind the other; a line break after each tells them apart.
  const house = `house() { ${command} -w '\\n' "$@"; }`;
  const script = ['set -e', house, section.replaceAll('http://127.0.0.1:4318', '$BASE')].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  return stdout
    .split(/\n(?=[[{])/)
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text) as unknown);
}

describe('README: collect feedback in five minutes', () => {
  it('works as it is written', async () => {
    const server = await bootServer();
    try {
      const { url, key, projectId } = server;
      const answers = await runSection({ BASE: url, SPANHOUSE_KEY: key, PROJECT: projectId });
      expect(answers).to.have.length(5);
      const [version, [span], link, feedback, unified] = answers;
      expect(version).to.include({ prompt: 'support', version: 1 });
      expect(feedback).to.include({ completion_id: span.id, thumbs_up: false, prompt_id: version.prompt_id });
      expect(unified.summary).to.include({ total: 1, human_feedback_count: 1 });
      const page = await fetch(link.url);
      expect(page.status).to.equal(200);
      expect(await page.text())
        .to.include('Where is my parcel?')
        .and.to.include('It is on its way.');
    } finally {
      await server.dispose();
    }
  });
});
