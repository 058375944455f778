import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { projectMaker } from '../harness/projects.js';
import { unhurried, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';

const TAG_VALUES = 300_000;
const SPANS = 20_000;
const GROWTHS = 300;
const BATCH = 5_000;
const TRACES_EACH_REQUEST = 500;
const START = '2026-01-01T00:00:00Z';
/** Of one request, on a machine that has nothing else to do. */
const PROMPT_MS = 5_000;
const GROWTH_MS = 60_000;

describe('one project with very much of something, beside another', function () {
  this.timeout(600_000);
  let programs: Programs;
  let program: Program;
  let otherKey: string;
  let watching: Promise<void> | null = null;
  let watched = new AbortController();
  let slowestOtherMs = 0;

  beforeEach(async () => {
    programs = await Programs.make();
    program = await programs.start();
    const projects = projectMaker(programs.dataDir);
    otherKey = projects.make().key;
    projects.close();
    watched = new AbortController();
    slowestOtherMs = 0;
    watching = beside();
    watching.catch(() => undefined);
  });
  afterEach(async () => {
    watched.abort();
    await watching?.catch(() => undefined);
    await programs.dispose();
  });

  /** The other project writes and reads all the while; each of its figures has to be right at once. */
  async function beside(): Promise<void> {
    for (let count = 1; !watched.signal.aborted; count += 1) {
      const trace_id = randomUUID();
      const from = performance.now();
      const spans = [{ trace_id, name: 'other', started_at: START, cost: 0.5, trace_tags: { user: `other ${count}` } }];
      expect((await asOther('POST', '/spans', spans)).status).to.equal(200);
      const { status, json } = await asOther('GET', `/traces?id=${trace_id}&fields=id,cost,span_count`);
      expect([status, json]).to.deep.equal([200, [{ id: trace_id, cost: 0.5, span_count: 1 }]]);
      slowestOtherMs = Math.max(slowestOtherMs, performance.now() - from);
      await sleep(50);
    }
  }

  async function asOther(method: string, path: string, body?: unknown): Promise<{ status: number; json: any }> {
    const response = await fetch(program.url + path, {
      method,
      headers: { authorization: `Bearer ${otherKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  }

  async function expectOtherUnaffected(): Promise<void> {
    watched.abort();
    await watching;
    expect(slowestOtherMs, 'ms of the slowest write and read of the other project').to.be.below(unhurried(PROMPT_MS));
  }

  async function expectStored(spans: readonly object[]): Promise<void> {
    const { status, json } = await program.request('POST', '/spans', spans);
    expect(status, status === 200 ? '' : `${JSON.stringify(json)}\n${program.complaints()}`).to.equal(200);
  }

  async function promptly(path: string): Promise<any> {
    const { status, json, ms } = await program.request('GET', path);
    expect(status, JSON.stringify(json).slice(0, 500)).to.equal(200);
    expect(ms, `ms of GET ${path}`).to.be.below(unhurried(PROMPT_MS));
    return json;
  }

  it(`${TAG_VALUES} distinct values of one tag: each is found promptly, and every figure is exact @slow`, async () => {
    const traces = Array.from({ length: TAG_VALUES / TRACES_EACH_REQUEST }, () => randomUUID());
    const user = (number: number) => `user ${String(number)}`;
    for (let first = 0; first < TAG_VALUES; first += BATCH)
      await expectStored(
        Array.from({ length: BATCH }, (_, index) => ({
          trace_id: traces[Math.floor((first + index) / TRACES_EACH_REQUEST)],
          name: 'step',
          started_at: START,
          cost: 0.25,
          tags: { user: user(first + index) },
          trace_tags: { user: user(first + index), [`seen by ${user(first + index)}`]: 'yes' },
        })),
      );
    for (const number of [0, 1, 123_456, TAG_VALUES - 1]) {
      const trace = traces[Math.floor(number / TRACES_EACH_REQUEST)];
      const spans = await promptly(`/spans?tags.user=${encodeURIComponent(user(number))}&fields=trace_id,tags,cost`);
      expect(spans).to.deep.equal([{ trace_id: trace, tags: { user: user(number) }, cost: 0.25 }]);
      const tag = `tags.${encodeURIComponent(`seen by ${user(number)}`)}=yes`;
      const found = await promptly(`/traces?${tag}&fields=id,span_count,cost`);
      const figures = { id: trace, span_count: TRACES_EACH_REQUEST, cost: TRACES_EACH_REQUEST / 4 };
      expect(found).to.deep.equal([figures]);
    }
    expect(await promptly(`/spans?tags.user=nobody`)).to.deep.equal([]);
    for (let offset = 0; offset < traces.length; offset += 500)
      for (const { span_count, cost } of await promptly(`/traces?fields=span_count,cost&limit=500&offset=${offset}`))
        expect({ span_count, cost }).to.deep.equal({ span_count: TRACES_EACH_REQUEST, cost: TRACES_EACH_REQUEST / 4 });
    await expectOtherUnaffected();
  });

  it(`a trace of ${SPANS} spans that grows ${GROWTHS} times: in bounded time, and its figures are exact @slow`, async () => {
    const trace_id = randomUUID();
    const ids = Array.from({ length: SPANS }, () => randomUUID());
    const span = (id: string | undefined, cost: number) => ({ id, trace_id, name: 'step', started_at: START, cost });
    for (let first = 0; first < SPANS; first += BATCH)
      await expectStored(ids.slice(first, first + BATCH).map((id) => span(id, 0.25)));
    const from = performance.now();
    for (let growth = 1; growth <= GROWTHS; growth += 1) {
      // One more, and one that is there already costs more.
      await expectStored([span(randomUUID(), 1), span(ids[growth], 0.5)]);
      if (growth % 30 > 0) continue;
      const found = await promptly(`/traces?id=${trace_id}&fields=span_count,cost`);
      expect(found).to.deep.equal([{ span_count: SPANS + growth, cost: SPANS / 4 + growth * 1.25 }]);
    }
    const took = performance.now() - from;
    console.log(
      `      ${GROWTHS} growths in ${Math.round(took)} ms; the other project waited ${slowestOtherMs | 0} ms`,
    );
    expect(took, 'ms of all growths').to.be.below(unhurried(GROWTH_MS));
    await expectOtherUnaffected();
  });
});
