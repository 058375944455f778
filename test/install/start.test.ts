import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { settingDefinitions } from '../../src/config/settings.js';

const script = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url));
const start = (...args: string[]) =>
  spawnSync(process.execPath, [script, 'scripts/start.js', ...args], { encoding: 'utf8', timeout: 60_000 });

describe('npm start', () => {
  it('prints usage and every setting with --help', () => {
    const { status, stdout } = start('--help');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^Usage: npm start/);
    for (const [name] of settingDefinitions) expect(stdout).to.include(`  ${name}  (default: `);
  });

  it('refuses what it does not know, and says what to do', () => {
    for (const unknown of ['--port', 'production']) {
      const { status, stderr } = start(unknown);
      expect(status).to.equal(1);
      expect(stderr).to.include(`'${unknown}'`).and.include('`npm start -- --help`');
    }
  });
});
