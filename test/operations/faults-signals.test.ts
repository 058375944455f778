import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { span } from '../harness/checked-api.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { packageRoot } from '../../src/engine/files/schema-files.js';

describe('stopping by signal', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-signal-'));
  });
  afterEach(() => removeDirectory(dataDir));

  it('says that it stopped, and nothing else, also in the middle of much work', async () => {
    const program = await Program.start(dataDir, { LOG_FORMAT: 'json', LOG_LEVEL: 'info' });
    try {
      let asking = true;
      const spans = (from: number) => Array.from({ length: 50 }, (_, index) => span(from + index, { kind: 'llm' }));
      const statuses = new Set<number>();
      const clients = Array.from({ length: 50 }, async (_, index) => {
        for (let round = 0; asking; round += 1) {
          const path = ['/spans', '/traces?q=x', '/sessions'][round % 3] ?? '';
          const method = round % 3 === 0 ? 'POST' : 'GET';
          const body = method === 'POST' ? spans(index * 100_000 + round * 100) : undefined;
          const { status } = await program.request(method, path, body);
          statuses.add(status);
          // What is refused from now on is refused at once.
          if (status === 0) return;
        }
      });
      await sleep(1_500);
      program.signal('SIGINT');
      program.signal('SIGINT');
      const ended = await program.ended;
      asking = false;
      await Promise.all(clients);
      expect(ended, program.stderr).to.deep.equal({ code: 0, signal: null });
      expect(program.stderr).to.equal('');
      expect(program.printed.at(-1)).to.equal('Stopped');
      expect(program.printed.filter((line) => /\bstack\b|^ +at /.test(line))).to.deep.equal([]);
      expect(statuses.has(200)).to.equal(true);
    } finally {
      await program.destroy();
    }
  }).timeout(60_000);

  it('says so too when it is asked twice while it starts, and finishes that first', async () => {
    const program = Program.spawn(dataDir);
    try {
      const deadline = performance.now() + 30_000;
      while (!program.log.some((line) => line.includes('migration started')) && performance.now() < deadline)
        await sleep(5);
      program.signal('SIGINT');
      await sleep(50);
      program.signal('SIGINT');
      expect(await program.ended, program.stderr).to.deep.equal({ code: 0, signal: null });
      expect(program.stderr).to.equal('');
      expect(program.printed.at(-1)).to.equal('Stopped');
    } finally {
      await program.destroy();
    }
  }).timeout(60_000);

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
