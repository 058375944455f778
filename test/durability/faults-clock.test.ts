import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { SpanRead } from '../../src/engine/traces/model/list/fields.js';
import { PROJECT_ID, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { audit, micros } from './recount.js';
import { Crowd } from './traffic.js';

const SHIFTED_CLOCK = fileURLToPath(new URL('shifted-clock.js', import.meta.url));
const HOUR_MS = 3_600_000;
const MINUTE_MICROS = 60e6;
const SHIFTED_WITHIN_MS = 30_000;

describe('a clock that goes back an hour', function () {
  this.timeout(240_000);
  let programs: Programs;
  let program: Program;
  let shiftFile: string;
  const crowd = new Crowd(8, 11);
  const stops: (() => Promise<void>)[] = [];
  const span = { id: randomUUID(), trace_id: randomUUID(), started_at: '2026-01-01T00:00:00Z' };
  const written: string[] = [];

  before(async () => {
    programs = await Programs.make();
    shiftFile = join(programs.dataDir, 'clock-shift');
    writeFileSync(shiftFile, '0');
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  after(() => programs.dispose());

  const start = async () => {
    const shifted = { NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`, CLOCK_SHIFT_FILE: shiftFile };
    program = await programs.start(shifted);
  };

  /** What the server takes the time for, from what it dates with it; microseconds. */
  async function serverTime(): Promise<number> {
    const judge = { name: randomUUID(), evaluation_type: 'binary', prompt: 'Is it right?', sample_rate: 0 };
    const { status, json } = await program.request('POST', `/projects/${PROJECT_ID}/judges`, judge);
    expect(status, JSON.stringify(json)).to.equal(201);
    return micros(json.created_at);
  }

  const behind = async () => Date.now() * 1000 - (await serverTime());

  async function expectBehind(hours: number): Promise<void> {
    expect(await behind(), 'microseconds behind').to.be.closeTo(hours * HOUR_MS * 1000, MINUTE_MICROS);
  }

  /** Sets the clock of the server under way, which hears of it when it comes to that. */
  async function shift(hours: number): Promise<void> {
    writeFileSync(shiftFile, String(-hours * HOUR_MS));
    const before = await behind();
    process.kill(program.pid, 'SIGUSR2');
    const deadline = performance.now() + SHIFTED_WITHIN_MS;
    while (Math.abs((await behind()) - before) < MINUTE_MICROS && performance.now() < deadline) await sleep(20);
    await expectBehind(hours);
  }

  /** Writes the one span once more, as from then on it must be read, with a version behind all others. */
  async function rewrite(): Promise<void> {
    const name = `write ${written.length}`;
    const body = [{ ...span, name, cost: written.length, trace_tags: { last: name }, attributes: { rev: 0 } }];
    const { status, json } = await program.request('POST', '/spans', body);
    expect(status, JSON.stringify(json)).to.equal(200);
    written.push((json as SpanRead[])[0]?.created_at ?? '');
    expect(written, 'versions, in the order of writing').to.deep.equal([...new Set(written)].sort());
    const found = (await program.request('GET', `/spans?trace_id=${span.trace_id}`)).json as SpanRead[];
    expect(found).to.have.length(1);
    expect(found[0]).to.include({ name, cost: written.length - 1 });
    const [trace] = (await program.request('GET', `/traces?id=${span.trace_id}`)).json;
    expect(trace).to.deep.include({ name, span_count: 1, cost: written.length - 1, tags: { last: name } });
  }

  async function loaded(during: () => Promise<void>): Promise<void> {
    const stop = crowd.start(program);
    stops.push(stop);
    await crowd.served();
    await during();
    await crowd.served();
    await stop();
    expect(crowd.tally.wrong).to.deep.equal([]);
    expect(crowd.tally).to.include({ refused: 0, broken: 0 });
  }

  async function expectExact(): Promise<void> {
    const { status } = await program.request('DELETE', `/traces/${span.trace_id}`);
    expect(status).to.equal(204);
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
    await rewrite();
  }

  it('while the server runs under load: later writes win, and every figure is exact', async () => {
    await start();
    await loaded(async () => {
      await rewrite();
      await expectBehind(0);
      await shift(1);
      for (let time = 0; time < 4; time += 1) await rewrite();
    });
    await expectExact();
  });

  it('over a restart, further back: later writes win, and every figure is exact', async () => {
    program.signal('SIGKILL');
    await program.ended;
    writeFileSync(shiftFile, String(-2 * HOUR_MS));
    await start();
    await expectBehind(2);
    await loaded(async () => {
      for (let time = 0; time < 3; time += 1) await rewrite();
    });
    await expectExact();
  });

  it('and comes right again: the same', async () => {
    await shift(0);
    await loaded(rewrite);
    await expectExact();
  });
});
