import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { storedFiles } from '../attachments/attachment-api.js';
import { images } from '../attachments/images.js';
import { rowsHolding, untilGone } from '../deletion/tombstone-gc.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { comingAndGoing, daysAgo, givenBetweenParts, ProjectApi } from './scene.js';

/** A span to be posted, with what retention of 30 days makes of it. */
interface Drawn {
  readonly stays: boolean;
  readonly span: Readonly<Record<string, unknown>> & { readonly id: string; readonly trace_id: string };
}

const IMAGE = { type: 'image', base64: images.png.toString('base64'), label: 'x' };

function drawn(stays: boolean, days: number, more: object = {}): Drawn {
  const id = randomUUID();
  return { stays, span: { id, trace_id: id, name: 'a', started_at: daysAgo(days), cost: 0.5, ...more } };
}

/** Traces that go and that stay by all that decides. @param feedback on which there is feedback, besides */
function scene() {
  const [session, over, mixed, late, open, deep, marked] = Array.from({ length: 7 }, () => randomUUID());
  const attributes = { attachments: [IMAGE] };
  const reviewed = drawn(true, 60, { input_data: 'reviewed' });
  const spans = [
    drawn(false, 31, { session_id: session, session_tags: { from: 'old' }, session_name: 'old name' }),
    drawn(true, 29, { session_id: session }),
    drawn(false, 90, { session_id: over, attributes, input_data: 'the words of an old span' }),
    // One trace goes as a whole, or not at all: what counts is the newest time in it.
    drawn(true, 40, { trace_id: mixed }),
    drawn(true, 20, { trace_id: mixed, parent_span_id: randomUUID() }),
    drawn(true, 40, { trace_id: late, ended_at: daysAgo(1) }),
    drawn(true, 50, { trace_id: open, ended_at: daysAgo(49) }),
    drawn(true, 5, { trace_id: open, parent_span_id: randomUUID() }),
    // Tags: of the span, of another span of the trace, of the trace, of the session.
    drawn(true, 45, { tags: { keep: 'audit' } }),
    drawn(true, 45, { trace_id: deep }),
    drawn(true, 44, { trace_id: deep, tags: { keep: true } }),
    drawn(true, 45, { trace_tags: { keep: '1' } }),
    drawn(true, 45, { session_id: marked, session_tags: { keep: 'yes' } }),
    drawn(false, 45, { tags: { keep: false } }),
    drawn(false, 45, { trace_tags: { keep: 'False' } }),
    drawn(false, 45, { tags: { keeper: 'x' } }),
    reviewed,
    drawn(false, 33, { tags: { 'spanhouse.judge': 'x', judge: 'x' } }),
    ...Array.from({ length: 30 }, (_, at) => drawn(false, 100 + at, { ended_at: daysAgo(100 + at, 5) })),
  ];
  return { spans, reviewed: reviewed.span.id, over };
}

describe('retention', function () {
  this.timeout(60_000);
  let server: TestServer;
  /** What a test does at each step of a deletion. */
  let atStep: () => void = () => undefined;
  before(async () => {
    server = await bootServer({ env: { RETENTION_INTERVAL_SECONDS: '1' }, onDeletionStep: () => atStep() });
  });
  beforeEach(() => (atStep = () => undefined));
  after(() => server.dispose());

  const project = () => ProjectApi.of(server, makeProject(server.dataDir));
  const sent = (all: readonly Drawn[], stays?: boolean) =>
    all.filter((each) => stays === undefined || each.stays === stays).map(({ span }) => span);

  async function metric(name: string): Promise<number> {
    const { text } = await server.request('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }
  const behind = () => metric('spanhouse_retention_behind_seconds');

  it('removes what is older as a whole, and leaves exactly what would be there without it', async () => {
    const { spans, reviewed, over } = scene();
    const [mine, others, rest] = [await project(), await project(), await project()];
    const posted = (one: ProjectApi) => [
      { id: over, project_id: one.projectId, name: 'posted, with an old trace' },
      { id: sessionOfPosted, project_id: one.projectId, name: 'posted, of a posted trace' },
    ];
    const sessionOfPosted = randomUUID();
    const trace = (days: number) => ({
      id: randomUUID(),
      session_id: sessionOfPosted,
      name: 't',
      started_at: daysAgo(days),
    });
    const [oldTrace, newTrace] = [trace(31), trace(1)];
    for (const one of [mine, others]) {
      await one.ask('POST', '/sessions', posted(one));
      await one.ask('POST', '/spans', sent(spans));
      await one.ask('POST', '/traces', [oldTrace, newTrace]);
    }
    await rest.ask('POST', '/sessions', posted(rest));
    await rest.ask('POST', '/spans', sent(spans, true));
    await rest.ask('POST', '/traces', [newTrace]);
    for (const one of [mine, others]) {
      await one.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
      await one.ask('POST', `/v1/prompts/task/completions/${reviewed}/feedback`, { thumbs_up: true });
    }
    const judge = await mine.ask(
      'POST',
      'judges',
      { name: 'j', evaluation_type: 'binary', prompt: 'x', enabled: false },
      201,
    );
    const gone = sent(spans, false).map(({ id }) => id);
    await mine.ask('POST', `judges/${judge.id}/evaluations`, { span_id: gone[0], evaluation_result: true }, 201);
    const before = await others.lists();
    expect(await mine.lists()).to.deep.equal(before);

    expect(await mine.ask('GET', 'retention')).to.include({ retention_days: null, days: null, before: null });
    const forecast = await mine.ask('GET', 'retention?days=30');
    expect(forecast).to.deep.include({ retention_days: null, days: 30 });
    // The posted trace has no spans.
    expect(forecast.going).to.include({ traces: gone.length + 1, spans: gone.length });
    expect(forecast.going.estimated_bytes).to.be.greaterThan(0);
    expect(forecast.kept).to.deep.equal({ tagged: { traces: 4, spans: 5 }, with_feedback: { traces: 1, spans: 1 } });
    expect(Date.parse(forecast.next_run_at)).to.be.greaterThan(Date.now() - 60_000);
    const counted = [await metric('spanhouse_retention_traces_total'), await metric('spanhouse_retention_spans_total')];
    expect(await mine.lists(), 'asking changes nothing').to.deep.equal(before);

    await mine.keepFor(30);
    await mine.untilDone();
    expect(await mine.lists()).to.deep.equal(await rest.lists());
    expect(await others.lists()).to.deep.equal(before);
    await untilGone(server.dataDir, ['retention/']);
    const rows = rowsHolding(server.dataDir, gone).filter((row) => row.includes(mine.projectId));
    expect(rows, 'records of what went').to.deep.equal([]);
    const evaluated = (await mine.ask('GET', `judges/${judge.id}/evaluations`)).evaluations;
    expect(evaluated).to.deep.equal([]);
    expect([
      await metric('spanhouse_retention_traces_total'),
      await metric('spanhouse_retention_spans_total'),
    ]).to.deep.equal([(counted[0] ?? 0) + gone.length + 1, (counted[1] ?? 0) + gone.length]);
    const feedback = await mine.ask('GET', `feedback/span/${reviewed}`);
    expect(feedback.items).to.have.length(1);
    // The other project still has the image.
    expect(await storedFiles(server.dataDir)).to.have.length(1);
    const after = await mine.ask('GET', 'retention');
    expect(after).to.deep.include({ going: { traces: 0, spans: 0, estimated_bytes: 0 }, kept: forecast.kept });
  });

  it('takes what arrives late for as old as it says it is', async () => {
    const mine = await project();
    await mine.keepFor(10);
    const [lost, saved] = [drawn(false, 11), drawn(false, 11)];
    const young = drawn(true, 1, { trace_id: saved.span.trace_id, name: 'young' });
    await mine.ask('POST', '/spans', [lost.span]);
    await mine.untilDone();
    expect((await mine.lists()).spans.size).to.equal(0);
    // The same again is a new span, and goes again; with a young one its trace stays, from its first span on.
    await mine.ask('POST', '/spans', [lost.span, saved.span, young.span]);
    await mine.untilDone();
    const { spans, traces } = await mine.lists();
    expect([...spans.keys()]).to.have.members([saved, young].map(({ span }) => `${span.trace_id}/${span.id}`));
    expect([...traces.values()]).to.have.length(1);
    expect([...traces.values()][0]).to.include({ span_count: 2, cost: 1, name: 'a' });
  });

  it('leaves what is known of a span whose id a younger trace has, too', async () => {
    const mine = await project();
    const old = drawn(false, 11, { attributes: { attachments: [IMAGE] } });
    const young = { ...old.span, trace_id: randomUUID(), started_at: daysAgo(1) };
    await mine.ask('POST', '/spans', [old.span, young]);
    const judge = { name: 'j', evaluation_type: 'binary', prompt: 'x', enabled: false };
    const { id: judgeId } = await mine.ask('POST', 'judges', judge, 201);
    const evaluation = { span_id: old.span.id, evaluation_result: true };
    await mine.ask('POST', `judges/${judgeId}/evaluations`, evaluation, 201);
    await mine.keepFor(10);
    await mine.untilDone();
    await untilGone(server.dataDir, ['retention/']);
    expect((await mine.lists()).spans.size).to.equal(1);
    expect((await mine.ask('GET', `spans/${old.span.id}/evaluations`)).evaluations).to.have.length(1);
    const { attachments } = await mine.ask('GET', `/spans/${old.span.id}/attachments`);
    expect(attachments).to.have.length(1);
  });

  it('looks through all spans of a long trace for feedback before any of them goes', async () => {
    const mine = await project();
    const [going, staying] = [randomUUID(), randomUUID()];
    const long = (trace_id: string) =>
      Array.from({ length: 2_500 }, (_, at) => drawn(false, 20, { trace_id, started_at: daysAgo(20, at) }).span);
    const reviewed = long(staying);
    const last = reviewed.reduce((most, { id }) => (id > most ? id : most), '');
    await mine.ask('POST', '/spans', [...long(going), ...reviewed]);
    await mine.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
    await mine.ask('POST', `/v1/prompts/task/completions/${last}/feedback`, { thumbs_up: false });
    const { going: forecast, kept } = await mine.ask('GET', 'retention?days=10');
    expect(forecast).to.include({ traces: 1, spans: 2_500 });
    expect(kept.with_feedback).to.deep.equal({ traces: 1, spans: 2_500 });
    await mine.keepFor(10);
    await mine.untilDone();
    const traces = await mine.ask('GET', '/traces');
    expect(traces.map(({ id, span_count }: any) => ({ id, span_count }))).to.deep.equal([
      { id: staying, span_count: 2_500 },
    ]);
  });

  it('leaves a trace that gets feedback while others that go with it are still being read', async () => {
    const mine = await project();
    const many = Array.from({ length: 1_200 }, () => randomUUID()).flatMap((trace_id) =>
      Array.from({ length: 4 }, () => drawn(false, 20, { trace_id }).span),
    );
    const young = drawn(true, 1).span;
    await mine.ask('POST', '/spans', [...many, young]);
    await mine.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
    await mine.ask('POST', `/v1/prompts/task/completions/${young.id}/feedback`, { thumbs_up: true });
    const reviewing = givenBetweenParts(server.dataDir, mine.projectId);
    await mine.keepFor(10);
    const spanId = await reviewing;
    await mine.untilDone();
    const traces = await mine.ask('GET', '/traces');
    const reviewed = many.find(({ id }) => id === spanId)?.trace_id;
    expect(traces.map(({ id, span_count }: any) => ({ id, span_count }))).to.have.deep.members([
      { id: young.trace_id, span_count: 1 },
      { id: reviewed, span_count: 4 },
    ]);
  });

  it('leaves a trace of the next portion that is written to, or whose session is marked, while the portion before it goes', async () => {
    const mine = await project();
    // The step that counts is one of this project.
    await untilGone(server.dataDir, ['retention/']);
    while ((await behind()) !== 0) await sleep(50);
    const many = Array.from({ length: 2_500 }, (_, at) => drawn(false, 20, { started_at: daysAgo(20, at) }).span);
    await mine.ask('POST', '/spans', many);
    const trace_id = many[2_300]?.trace_id;
    const later = drawn(true, 0, { trace_id, parent_span_id: many[2_300]?.id }).span;
    const session_id = randomUUID();
    const marked = drawn(true, 20, { session_id, started_at: daysAgo(20, 2_600) }).span;
    await mine.ask('POST', '/spans', [marked]);
    const writes: Promise<unknown>[] = [];
    atStep = () => {
      if (writes.length > 0) return;
      writes.push(mine.ask('POST', '/spans', [later]));
      writes.push(
        mine.ask('POST', '/sessions', [{ id: session_id, project_id: mine.projectId, tags: { keep: 'yes' } }]),
      );
    };
    await mine.keepFor(10);
    await mine.untilDone();
    await Promise.all(writes);
    const traces = await mine.ask('GET', '/traces');
    expect(traces.map(({ id, span_count }: any) => ({ id, span_count }))).to.have.deep.members([
      { id: trace_id, span_count: 2 },
      { id: marked.trace_id, span_count: 1 },
    ]);
  });

  it('goes on while another project gets and loses feedback all the time', async () => {
    const [mine, other] = [await project(), await project()];
    const young = drawn(true, 1).span;
    for (const one of [mine, other]) {
      await one.ask('POST', '/spans', [young]);
      await one.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
      await one.ask('POST', `/v1/prompts/task/completions/${young.id}/feedback`, { thumbs_up: true });
    }
    await mine.ask(
      'POST',
      '/spans',
      Array.from({ length: 4_000 }, () => drawn(false, 20).span),
    );
    const stop = comingAndGoing(server.dataDir, other.projectId);
    await mine.keepFor(10);
    await mine.untilDone().finally(stop);
    expect((await mine.lists()).traces.size).to.equal(1);
  });

  it('goes on while another project gets feedback faster than it is looked through', async () => {
    const [mine, busy] = [await project(), await project()];
    const young = drawn(true, 1).span;
    await busy.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
    await busy.ask('POST', '/spans', [young]);
    await busy.ask('POST', `/v1/prompts/task/completions/${young.id}/feedback`, { thumbs_up: true });
    for (const one of [mine, busy]) await one.ask('POST', '/spans', [drawn(false, 20).span]);
    const stop = comingAndGoing(server.dataDir, busy.projectId, 0);
    try {
      await busy.keepFor(10);
      // Its turn has come.
      await sleep(2_500);
      await mine.keepFor(10);
      await mine.untilDone(40_000);
    } finally {
      await stop();
    }
    await busy.untilDone();
  });

  it('ends where somebody decides to keep everything', async () => {
    const mine = await project();
    // The step that counts is one of this project.
    await untilGone(server.dataDir, ['retention/']);
    while ((await behind()) !== 0) await sleep(50);
    const many = Array.from({ length: 2_500 }, (_, at) => drawn(false, 20, { started_at: daysAgo(20, at) }).span);
    await mine.ask('POST', '/spans', many);
    let steps = 0;
    atStep = () => {
      if ((steps += 1) !== 1) return;
      // As another process does.
      const metadata = openMetadataStore(server.dataDir);
      metadata.identities.changeProject(mine.projectId, { retention_days: null });
      metadata.close();
    };
    await mine.keepFor(10);
    const count = async () => (await mine.ask('GET', 'storage')).spans.count as number;
    for (let left = many.length; left === many.length;) left = await count();
    await untilGone(server.dataDir, ['retention/']);
    for (let last = -1, now = await count(); last !== now; now = await count()) {
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
    expect(await count(), 'the oldest portion is gone, the next was not begun').to.equal(500);
    const [oldest] = await mine.ask('GET', '/spans?limit=1&sort_order=asc&fields=id');
    expect(oldest.id).to.equal(many[2_000]?.id);
  });

  it('goes on after failures, and is behind meanwhile', async () => {
    while ((await behind()) !== 0) await sleep(50);
    const both = [await project(), await project()];
    for (const one of both) await one.ask('POST', '/spans', [drawn(false, 20).span]);
    let failures = 0;
    let failing = true;
    atStep = () => {
      if (failing) throw new Error(`failure ${(failures += 1)} of the test`);
    };
    for (const one of both) await one.keepFor(10);
    while (failures < 2 || (await behind()) === 0) await sleep(50);
    failing = false;
    for (const one of both) {
      await one.untilDone();
      expect((await one.lists()).traces.size).to.equal(0);
    }
    while ((await behind()) !== 0) await sleep(50);
    await untilGone(server.dataDir, ['retention/']);
  });

  it('is set between a day and a century, by those who may', async () => {
    const mine = await project();
    const set = (body: unknown, status: number) => mine.ask('PATCH', '', body, status);
    for (const days of [0, -1, 1.5, 36_501, '30', true]) await set({ retention_days: days }, 422);
    await set({}, 422);
    for (const days of ['0', '1.5', 'x', '36501', '']) await mine.ask('GET', `retention?days=${days}`, undefined, 422);
    await mine.ask('GET', 'retention?day=1', undefined, 422);
    expect(await set({ retention_days: 36_500, name: 'both' }, 200)).to.include({
      retention_days: 36_500,
      name: 'both',
    });
    expect(await set({ name: 'one' }, 200)).to.include({ retention_days: 36_500, name: 'one' });
    expect(await set({ retention_days: null }, 200)).to.include({ retention_days: null, name: 'one' });
    const path = `/projects/${mine.projectId}`;
    const { json: reader } = await server.request('POST', `${path}/api-keys`, {
      key: mine.key,
      body: { name: 'reader', access: 'read' },
    });
    const asReader = (method: string, what: string, body?: unknown) =>
      server.request(method, path + what, { key: reader.key, ...(body !== undefined && { body }) });
    expect((await asReader('PATCH', '', { retention_days: 1 })).status).to.equal(403);
    expect((await asReader('GET', '/retention?days=1')).status).to.equal(200);
    expect((await server.request('GET', `${path}/retention`)).status).to.equal(403);
  });
});
