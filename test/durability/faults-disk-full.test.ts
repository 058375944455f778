import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { unhurried } from '../harness/program.js';
import type { TestResponse } from '../harness/server.js';
import { expectRefused, SmallDiskScene } from './small-disk-scene.js';

const WELL_WITHIN_MS = 20_000;
const SESSION = randomUUID();
const span = (name: string, parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  name,
  session_id: SESSION,
  started_at: Date.now(),
  cost: 1,
  ...parts,
});

describe('a full disk', function () {
  this.timeout(180_000);
  const scene = SmallDiskScene.forEachTest();
  const post = (path: string, body: unknown) => scene.post(path, body);
  const get = (path: string) => scene.get(path);

  async function expectWellAgain(write: () => Promise<TestResponse>): Promise<void> {
    const until = Date.now() + unhurried(WELL_WITHIN_MS);
    let answer = await write();
    while (answer.status === 503 && Date.now() < until) {
      await sleep(200);
      answer = await write();
    }
    expect(answer.status, answer.text).to.be.within(200, 201);
  }

  /** Every list shows exactly these spans, each in a trace of its own. */
  async function expectReadable(names: readonly string[]): Promise<void> {
    const [spans, traces, sessions] = [await get('/spans'), await get('/traces'), await get('/sessions')];
    expect([spans.status, traces.status, sessions.status]).to.deep.equal([200, 200, 200]);
    const namesOf = ({ json }: TestResponse) => (json as { name: string }[]).map(({ name }) => name).sort();
    expect(namesOf(spans)).to.deep.equal(names);
    expect(namesOf(traces)).to.deep.equal(names);
    expect(sessions.json[0]).to.include({ trace_count: names.length, cost: names.length });
  }

  it('of ClickHouse refuses writes with 503 while everything acknowledged is read, and is well by itself', async function () {
    const disk = scene.mount(this, 200, 'clickhouse');
    await scene.boot();
    expect((await post('/spans', [span('a')])).status).to.equal(200);
    await expectReadable(['a']);
    const deleted = span('gone');
    expect((await post('/spans', [deleted])).status).to.equal(200);
    // Acknowledged, and not rolled up yet.
    expect((await post('/spans', [span('b')])).status).to.equal(200);
    expect((await scene.call('DELETE', `/spans/${deleted.id}`)).status).to.equal(204);
    disk.fill();
    await expectReadable(['a', 'b']);
    // What is taken before ClickHouse has met the full disk is readable, too.
    const names = ['a', 'b'];
    const untilRefused = async () => {
      let answer = await post('/spans', [span('taken', { input_data: 'x'.repeat(100_000) })]);
      for (
        ;
        answer.status === 200;
        answer = await post('/spans', [span('taken', { input_data: 'x'.repeat(100_000) })])
      ) {
        names.push('taken');
        names.sort();
        await expectReadable(names);
      }
      expectRefused(answer);
    };
    await untilRefused();
    for (let round = 0; round < 3; round += 1) {
      expectRefused(await post('/spans', [span('refused', { input_data: 'x'.repeat(100_000) })]));
      expectRefused(await scene.call('DELETE', `/sessions/${SESSION}`));
      await expectReadable(names);
    }
    expect((await get('/readyz')).status).to.equal(200);
    expect((await post('/v1/tasks/elsewhere/prompt/versions/ensure', { content: 'x' })).status).to.equal(200);

    disk.free();
    await expectWellAgain(() => post('/spans', [span('c')]));
    names.push('c');
    await expectReadable(names.sort());
    // And again.
    disk.fill();
    await untilRefused();
    await expectReadable(names);
  });

  it('of ClickHouse, filled by spans, loses none that was acknowledged', async function () {
    scene.mount(this, 120, 'clickhouse');
    await scene.boot();
    const acknowledged: string[] = [];
    let refused = 0;
    const send = async () => {
      while (refused < 8) {
        const body = Array.from({ length: 4 }, () =>
          span('large', { input_data: randomBytes(500_000).toString('base64') }),
        );
        const answer = await post('/spans', body);
        if (answer.status === 200) acknowledged.push(...body.map(({ id }) => id));
        else {
          expectRefused(answer);
          refused += 1;
        }
      }
    };
    await Promise.all([send(), send(), send(), send()]);
    expect(acknowledged).to.have.length.above(8);

    const until = Date.now() + unhurried(WELL_WITHIN_MS);
    let found = await get('/spans?fields=id&limit=1000');
    while (found.status === 503 && Date.now() < until) {
      await sleep(200);
      found = await get('/spans?fields=id&limit=1000');
    }
    expect(found.status, found.text.slice(0, 300)).to.equal(200);
    expect((found.json as { id: string }[]).map(({ id }) => id)).to.include.members(acknowledged);
    const [session] = (await get('/sessions')).json as { trace_count: number }[];
    expect(session?.trace_count).to.equal(found.json.length);
    // Merges may have made room by now: what is taken then has to be there, too.
    const small = span('small');
    const last = await post('/spans', [small]);
    if (last.status !== 200) expectRefused(last);
    const shown = ((await get('/spans?fields=id&limit=1000')).json as { id: string }[]).map(({ id }) => id);
    expect(shown.includes(small.id)).to.equal(last.status === 200);
  });

  it('of SQLite and the log refuses what is kept there with 503, and shows everything else', async function () {
    const disk = scene.mount(this, 8);
    for (const name of ['clickhouse', 'attachments']) {
      await mkdir(scene.beside(name));
      await symlink(scene.beside(name), join(scene.dataDir, name));
    }
    const { projectId } = await scene.boot();
    const ensure = (content: string) => post('/v1/tasks/greeting/prompt/versions/ensure', { content });
    expect((await post('/spans', [span('stored')])).status).to.equal(200);
    const first = await ensure('first');
    expect(first.status).to.equal(200);
    disk.fill();
    let number = 0;
    // What is left of the last page may still take one.
    let answer = await ensure(`${'long '.repeat(20_000)}${number}`);
    while (answer.status === 200 && number < 100) answer = await ensure(`${'long '.repeat(20_000)}${(number += 1)}`);
    expectRefused(answer);
    expectRefused(await post(`/projects/${projectId}/api-keys`, { name: 'x'.repeat(100) }));
    expectRefused(await post('/spans', [span('refused', { input_data: 'x'.repeat(100_000) })]));
    await expectReadable(['stored']);
    expect((await get(`/projects/${projectId}/prompts`)).json).to.have.length(1);
    expect((await get('/readyz')).status).to.equal(200);
    disk.free();
    await expectWellAgain(() => ensure('second'));
    await expectWellAgain(() => post('/spans', [span('taken')]));
    await expectReadable(['stored', 'taken']);
  });

  it('of attachments refuses spans with images with 503, and stores and serves everything else', async function () {
    const disk = scene.mount(this, 4, 'attachments');
    await scene.boot();
    const withImage = (name: string, side: number) =>
      span(name, { attributes: { attachments: [{ base64: png(side).toString('base64') }] } });
    const kept = withImage('kept', 200);
    expect((await post('/spans', [kept])).status).to.equal(200);
    disk.fill();
    for (let round = 0; round < 3; round += 1) expectRefused(await post('/spans', [withImage('refused', 300)]));
    expect((await post('/spans', [span('plain')])).status).to.equal(200);
    await expectReadable(['kept', 'plain']);
    const [image] = (await get(`/spans/${kept.id}/attachments`)).json.attachments as { url: string }[];
    expect((await fetch(image?.url ?? '')).status).to.equal(200);
    disk.free();
    await expectWellAgain(() => post('/spans', [withImage('stored', 300)]));
  });
});
