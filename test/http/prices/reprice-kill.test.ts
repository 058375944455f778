import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, priceApi } from './price-api.js';

const main = join(import.meta.dirname, '../../../src/main.js');
const projectId = '0197f3a0-0000-7000-8000-000000000001';
const key = 'sk_sh_test_key_of_reprice';

describe('recalculating stored costs when the program is killed', () => {
  let dataDir: string;
  const running: ChildProcess[] = [];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-reprice-'));
  });
  after(async () => {
    for (const child of running) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start() {
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      SPANHOUSE_INIT_PROJECT_ID: projectId,
      SPANHOUSE_INIT_API_KEY: key,
    };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(child);
    const url = await new Promise<string>((resolve, reject) => {
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += String(chunk);
        const ready = /ready at (http:\/\/[\d.:]+)/.exec(out)?.[1];
        if (ready !== undefined) resolve(ready);
      });
      child.once('exit', () => reject(new Error(out)));
    });
    return { child, api: priceApi({ url, key, projectId }) };
  }

  it('goes on after the next start, and every figure is exact', async () => {
    const first = await start();
    await first.api.put('acme', 'one', { input_per_million: 1, output_per_million: 0 });
    const traces = Array.from({ length: 6 }, () => randomUUID());
    for (const trace of traces) {
      const spans = Array.from({ length: 1000 }, (_, index) =>
        call(trace, { started_at: 1_770_000_000 + index, ...(index === 0 ? { cost: 0.5 } : {}) }),
      );
      await first.api.post(spans);
    }
    await first.api.put('acme', 'one', { input_per_million: 2, output_per_million: 0 });
    const { id } = (await first.api.reprice()).json;
    let before = (await first.api.job(id)).json;
    while (before.status !== 'done' && before.examined < 1000) before = (await first.api.job(id)).json;
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(before.status, 'the kill came in the middle').to.equal('running');

    const second = await start();
    const after = await second.api.ended(id);
    expect(after).to.include({ status: 'done', total: 5994, examined: 5994, error: null });
    for (const trace of traces) {
      expect(await second.api.traceOf(trace)).to.include({ span_count: 1000, cost: 1998.5 });
      const spans = (await second.api.request('GET', `/spans?trace_id=${trace}&fields=cost`)).json;
      expect(spans.filter(({ cost }: any) => cost === 2)).to.have.length(999);
    }
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
  }).timeout(120_000);
});
