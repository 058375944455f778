import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { packageRoot } from '../../src/engine/files/schema-files.js';

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly lines: readonly string[];
}

describe('npm test', function () {
  this.timeout(120_000);

  /** `npm test` on files of the folder runner, which fail in every way there is, so that no other run finds them. */
  function run(files: readonly string[], args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const paths = files.map((file) => `test/harness/runner/${file}.ts`);
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(packageRoot(), 'scripts/test.mjs'), ...args, ...paths],
        { cwd: packageRoot(), env: { ...process.env, ...env } },
        (error, output) => {
          resolve({ code: error === null ? 0 : Number(error.code), output, lines: output.trimEnd().split('\n') });
        },
      );
    });
  }

  it('ends with the sum over all files alone on a line, and with 0 when nothing failed', async () => {
    const { code, lines } = await run(['good', 'other']);
    expect([code, lines.at(-1)]).to.deep.equal([0, '3 passed, 0 failed']);
  });

  it('prints what a file wrote in one piece, and failures once more at the end', async () => {
    const { code, output, lines } = await run(['failing', 'good']);
    expect([code, lines.at(-1)]).to.deep.equal([1, '3 passed, 1 failed']);
    expect(output).to.include(`
test/harness/runner/failing.ts
  a file with a failing test
    ✔ passes
written by the failing test
    1) fails
`);
    expect(output.slice(output.indexOf('Failures:'))).to.match(
      /failing\.ts\n[^]*1\) a file with a failing test\n +fails:\n +Error: the reason of the failing test\n +at .*failing\.js/,
    );
  });

  it('counts a file that ends its process, cannot be loaded or leaves something open as failed, and runs the others', async () => {
    const { code, output, lines } = await run(
      ['ending', 'unloadable', 'open', 'good'],
      ['--jobs', '1', '--silent-seconds', '3'],
    );
    expect([code, lines.at(-1)]).to.deep.equal([1, '4 passed, 3 failed']);
    expect(output).to.match(/runner\/ending\.ts\n +The file ended its process \(SIGSEGV\)\. Last, this ran: .* ends\./);
    expect(output).to.match(/runner\/unloadable\.ts\n +The file could not be loaded:\n.*the reason of the file/);
    expect(output).to.match(/runner\/open\.ts\n +The file left something open: TCPServerWrap\./);
  });

  it('ends a file that hangs, and the processes that it started', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-runner-'));
    const pidFile = join(folder, 'pid');
    try {
      const { code, output, lines } = await run(['hanging', 'good'], ['--silent-seconds', '3'], {
        RUNNER_PID_FILE: pidFile,
      });
      expect([code, lines.at(-1)]).to.deep.equal([1, '3 passed, 1 failed']);
      expect(output).to.match(
        /runner\/hanging\.ts\n +The file hangs: .* 3 s\. Last, this ran: a file that hangs hangs\./,
      );
      const pid = readFileSync(pidFile, 'utf8');
      // The system may take a moment to end what was killed; a process that was not would stay.
      const until = Date.now() + 30_000;
      while (existsSync(`/proc/${pid}/exe`) && Date.now() < until) await sleep(20);
      expect(existsSync(`/proc/${pid}/exe`), `process ${pid}`).to.equal(false);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('runs the tests with a title alone, and stops at the first failure when told to', async () => {
    expect((await run(['good', 'failing'], ['--grep', 'passes too'])).lines.at(-1)).to.equal('1 passed, 0 failed');
    const stopped = await run(['failing', 'good'], ['--bail', '--jobs', '1']);
    expect([stopped.code, stopped.lines.at(-1)]).to.deep.equal([1, '1 passed, 1 failed']);
  });

  it('runs files that must be alone when no other runs', async () => {
    const { lines } = await run(['alone', 'other', 'good']);
    const began = (title: string) => lines.findIndex((line) => line.includes(title));
    expect(began('a file that runs alone')).to.be.above(began('a file with good tests'));
    expect(began('a file that runs alone')).to.be.above(began('a slow file with good tests'));
  });
});
