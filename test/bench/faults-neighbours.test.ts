import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { singleBodies } from '../../bench/bodies.js';
import { startSteadyLoad, startSteadyReads } from '../../bench/processes/steady.js';

const run = promisify(execFile);
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const bench = async (...args: string[]) =>
  (await run(process.execPath, [file('../../bench/main.js'), 'neighbours', ...args])).stdout;
const TINY = ['--seconds', '1', '--spans', '240', '--answer-mb', '1', '--no-write'];

describe('npm run bench -- neighbours', () => {
  it('tells its options', async () => {
    expect(await bench('--help')).to.match(/--seconds <n>[\s\S]*--checkout <dir>[\s\S]*--no-write/);
  });

  it('says which server there is none of, before it measures anything', async () => {
    const failed = await bench(...TINY, '--checkout', file('.')).catch((error: unknown) => String(error));
    expect(failed).to.match(/there is no \S+main\.js: is that checkout compiled\?/);
  });

  // The checkout is this one: a server found as that of another is.
  it('times each call of the neighbour under each load, against quiet @slow', async function () {
    this.timeout(300_000);
    const table = await bench(...TINY, '--checkout', file('../../..'), '--node', process.execPath);
    // A machine that does much else may fail a call under load; the table says so, and has no time then.
    const value = String.raw`(n/a|\d[\d.,]*)`;
    const three = `${value} / ${value} / ${value}`;
    const row = String.raw`${three} +${three} +[1-9]\d* +(0|[1-9]\d* × \w+)`;
    for (const load of [
      'quiet',
      '120-span writes by 16 clients',
      'pages of 10,000 spans for 16 clients',
      'answers of 1 MB, read slowly, over 40 connections',
      'one-span writes by 64 clients',
      'quiet again',
    ])
      for (const call of ['write of one span', 'spans of a trace', 'newest 50 traces'])
        expect(table).to.match(new RegExp(`^${load} +${call} +${row}`, 'm'));
    for (const call of ['write of one span', 'spans of a trace', 'newest 50 traces'])
      expect(table).to.match(new RegExp(`^quiet +${call} .* 1\\.00 / 1\\.00 / 1\\.00 +\\d+ +0$`, 'm'));
    expect(table).to.match(/^Peak memory: server [\d,]+ MB, engine [\d,]+ MB\.$/m);
  });
});

describe('a steady load of the bench', () => {
  let server: TestServer;

  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  const until = async (reached: () => Promise<boolean>) => {
    while (!(await reached())) await new Promise((done) => setTimeout(done, 50));
  };

  it('goes on when it is refused, if it may be, and counts it', async () => {
    const target = { url: server.url, key: 'sk_sh_of_nobody', clients: 2, refusable: true };
    const load = startSteadyReads({ paths: ['/spans'] }, target);
    await until(async () => (await load.count()).refused >= 4);
    expect((await load.count()).answered).to.equal(0);
    await load.stop();
  });

  it('ends when it is refused, if it may not be, and says why', async () => {
    const load = startSteadyReads({ paths: ['/spans'] }, { url: server.url, key: 'sk_sh_of_nobody', clients: 2 });
    const failure = await load.stop().catch((error: unknown) => String(error));
    expect(failure).to.include('a request was answered 401');
  });

  it('reads no faster than it is told, and gives up what is under way at its end', async () => {
    const bodies = singleBodies(1, 300);
    const target = { url: server.url, key: server.key, clients: 4 };
    const writing = startSteadyLoad(bodies, target);
    await until(async () => (await writing.count()).answered >= 300);
    await writing.stop();
    const paths = ['/spans?limit=10000'];
    const slow = startSteadyReads({ paths, bytesPerSecond: 1_000 }, { ...target, refusable: true });
    await until(async () => (await slow.count()).bytesRead > 0);
    const { bytesRead, answered } = await slow.count();
    expect(answered).to.equal(0);
    await new Promise((done) => setTimeout(done, 1_000));
    // A piece is at most 64 KB, so no connection has read its second.
    expect((await slow.count()).bytesRead).to.be.at.most(Math.max(bytesRead, 4 * 65_536));
    await slow.stop();
  });
});
