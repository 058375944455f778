import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/storage/schema-files.js';

describe('stopping by signal', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-signal-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('takes the two SIGINT of Ctrl-C under npm as one, to the whole process group, and ends with 0', async () => {
    const server = spawn(process.execPath, [join(packageRoot(), 'dist/src/main.js')], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    try {
      for await (const chunk of server.stdout) if (String(chunk).includes('Spanhouse is ready')) break;
      const exit = once(server, 'exit');
      process.kill(-server.pid!, 'SIGINT');
      process.kill(server.pid!, 'SIGINT');
      expect(await exit).to.deep.equal([0, null]);
    } finally {
      server.kill('SIGKILL');
    }
  });
});
