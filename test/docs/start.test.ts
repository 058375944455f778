import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { settingDefinitions } from '../../src/config/settings.js';

const script = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url));
const start = (...args: string[]) =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', timeout: 60_000 });

describe('npm start', () => {
  it('prints usage and every setting with --help', () => {
    const { status, stdout } = start('--help');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^Usage: npm start/);
    for (const [name] of settingDefinitions) expect(stdout).to.include(`  ${name}  (default: `);
  });

  it('refuses what it does not know, and says what to do', () => {
    const { status, stderr } = start('--port', '5000');
    expect(status).to.equal(1);
    expect(stderr).to.include('does not know --port 5000').and.include('npm start -- --help');
  });
});
