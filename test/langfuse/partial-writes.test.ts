import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { seedOf } from '../harness/seed.js';
import { at, langfuse, type SentEvent } from './langfuse-client.js';
import { eventsOf, shuffled } from './trace-events.js';

const SEED = seedOf('PARTS_SEED');
/** Orders in which the events of a trace are sent. */
const ORDERS = 12;

describe(`spans in parts, PARTS_SEED=${SEED}`, function () {
  this.timeout(120_000);
  let server: TestServer;
  let client: ReturnType<typeof langfuse>;
  before(async () => {
    server = await bootServer();
    client = langfuse(server);
  });
  after(() => server.dispose());

  /** The spans and the trace, with names in the place of ids, and without when they were received. */
  async function stored(trace: string) {
    const id = await idOf(trace);
    const spans = (await server.request('GET', `/spans?trace_id=${id}&sort_by=started_at&sort_order=asc`))
      .json as any[];
    const traces = (await server.request('GET', `/traces?id=${id}`)).json as any[];
    const names = new Map<string, string>([
      [id, 'trace'],
      ...spans.map(({ id: span, name }): [string, string] => [span, name]),
    ]);
    const told = JSON.stringify([spans, traces]).replaceAll(trace, 'T');
    return JSON.parse(
      [...names]
        .reduce((text, [uuid, name]) => text.replaceAll(uuid, name), told)
        .replace(/"created_at":"[^"]*"/g, '"created_at":""')
        .replace(/,"since":\d+/g, ''),
    );
  }

  async function idOf(trace: string): Promise<string> {
    const location = (
      await server.request('GET', `/project/${server.projectId}/traces/${trace}`, { key: null })
    ).headers.get('location');
    return location?.split('/').at(-1) ?? '';
  }

  async function sendAll(batches: readonly (readonly SentEvent[])[]): Promise<void> {
    for (const batch of batches) {
      const { status, json } = await client.send(batch);
      expect(status).to.equal(207);
      expect(json.errors).to.deep.equal([]);
      expect(json.successes).to.deep.equal(batch.map(({ id }) => ({ id, status: 201 })));
    }
  }

  it('are what their events say last, with figures and costs of whole spans', async () => {
    await sendAll([eventsOf('in-order')]);
    const [spans, [trace]] = await stored('in-order');
    expect(spans.map(({ name }: any) => name)).to.deep.equal(['checkout', 'retrieve', 'answer, renamed']);
    const [root, outer, inner] = spans;
    expect(root).to.include({
      input_data: 'Where?',
      output_data: 'Here.',
      parent_span_id: null,
      session_name: 'a session',
    });
    expect(root.tags).to.include({ user: 'ann', shop: 'true', plan: 'pro' });
    expect(outer).to.include({ parent_span_id: 'checkout', kind: 'generic', duration_ms: 60, output_data: '{"n":3}' });
    expect(outer.attributes).to.include({
      'langfuse.observation.metadata.step': 'second',
      'langfuse.observation.metadata.kept': 1,
      'langfuse.observation.metadata.more': true,
      'langfuse.id': 'T-outer',
    });
    expect(inner).to.include({
      ...{ parent_span_id: 'retrieve', kind: 'llm', status: 'error', error_message: 'cut short', output_data: 'Here.' },
      ...{ model: 'gpt-4o', input_tokens: 1000, output_tokens: 500, prompt_slug: 'support', prompt_version: 1 },
      ...{ cost: (1000 * 2.5 + 500 * 10) / 1e6, duration_ms: 40, input_data: '[{"role":"user","content":"Where?"}]' },
    });
    expect(trace).to.include({
      ...{ name: 'checkout', span_count: 3, error_count: 1, cost: inner.cost, root_span_input: 'Where?' },
      ...{ root_span_output: 'Here.', duration_ms: 70, status: 'error' },
    });
  });

  it('are the same in whatever order, portions and repetitions their events come', async () => {
    const dice = new Random(SEED);
    await sendAll([eventsOf('expected')]);
    const expected = await stored('expected');
    const traces = await Promise.all(
      Array.from({ length: ORDERS }, async (_none, index) => {
        const events = eventsOf(`order-${index}`);
        const order = shuffled(events, dice);
        const again = events.filter(() => dice.whole(0, 3) === 0);
        const batches: SentEvent[][] = [];
        for (const event of [...order, ...again])
          if (batches.length === 0 || dice.whole(0, 2) === 0) batches.push([event]);
          else batches.at(-1)?.push(event);
        await sendAll(batches);
        return { index, order };
      }),
    );
    for (const { index, order } of traces)
      expect(
        await stored(`order-${index}`),
        order.map(({ type, timestamp }) => `${type} ${timestamp}`).join(', '),
      ).to.deep.equal(expected);
  });

  it('are the same when several clients send their events at once', async () => {
    const events = eventsOf('at-once');
    await Promise.all([...events, ...events].map((event) => sendAll([[event]])));
    await sendAll([eventsOf('one-by-one')]);
    expect(await stored('at-once')).to.deep.equal(await stored('one-by-one'));
  });

  it('change nothing when they are sent again, not even the time at which they were received', async () => {
    const events = eventsOf('again');
    await sendAll([events]);
    const id = await idOf('again');
    const before = (await server.request('GET', `/spans?trace_id=${id}`)).text;
    await sendAll([events, events.slice(3)]);
    expect((await server.request('GET', `/spans?trace_id=${id}`)).text).to.equal(before);
  });

  it('go on after a restart', async () => {
    const events = eventsOf('restarted');
    await sendAll([events.slice(0, 4)]);
    const { dataDir } = server;
    await server.stop();
    server = await bootServer({ dataDir });
    client = langfuse(server);
    await sendAll([events.slice(4)]);
    await sendAll([eventsOf('not-restarted')]);
    expect(await stored('restarted')).to.deep.equal(await stored('not-restarted'));
  });

  it('bring back nothing of a span, or a trace, that was deleted', async () => {
    for (const [trace, path] of [
      ['deleted-span', async (_id: string, span: string) => `/spans/${span}`],
      ['deleted-trace', async (id: string) => `/traces/${id}`],
    ] as const) {
      const [, create, , , , , update] = eventsOf(trace);
      await sendAll([[create!]]);
      const id = await idOf(trace);
      const [{ id: span }] = (await server.request('GET', `/spans?trace_id=${id}`)).json;
      expect((await server.request('DELETE', await path(id, span))).status).to.equal(204);
      await sendAll([[update!]]);
      const [left, ...more] = (await server.request('GET', `/spans?trace_id=${id}`)).json;
      expect(more).to.deep.equal([]);
      expect(left).to.include({ id: span, name: 'unnamed', output_data: '{"n":3}' });
      expect(JSON.stringify(left)).to.not.include('retrieve').and.not.include('kept');
    }
  });

  it('are refused alone where they would make a span of too many members, or of none that fits', async () => {
    const named = (from: number, count: number, body: object = {}) => {
      const metadata = Object.fromEntries(Array.from({ length: count }, (_none, index) => [`m${from + index}`, [1]]));
      const id = { id: 'many-members', traceId: 'many-members' };
      return { id: randomUUID(), type: 'span-update', timestamp: at(from), body: { ...id, metadata, ...body } };
    };
    const batch = [named(0, 3000), named(3000, 3000), named(2999, 1, { output: 'still' })];
    const { status, json } = await client.send(batch);
    expect([status, json.successes.length]).to.deep.equal([207, 2]);
    expect(json.errors).to.have.length(1);
    expect(json.errors[0]).to.include({ id: batch[1]!.id, status: 400 });
    expect(json.errors[0].message).to.equal('would make a span of more than 5000 attributes and tags');
    const [span] = (await server.request('GET', `/spans?trace_id=${await idOf('many-members')}`)).json;
    expect(span.output_data).to.equal('still');
  });

  it('add to whole spans, and give way to them', async () => {
    const [id, trace_id] = [randomUUID(), randomUUID()];
    const whole = { id, trace_id, name: 'whole', started_at: at(0), input_data: 'in', tags: { a: 'b' } };
    await server.request('POST', '/spans', { body: [whole] });
    const event = {
      id: randomUUID(),
      type: 'span-update',
      timestamp: at(5),
      body: { id, traceId: trace_id, output: 'out' },
    };
    await sendAll([[event]]);
    const get = async () => (await server.request('GET', `/spans/${id}?trace_id=${trace_id}`)).json;
    expect(await get()).to.include({ name: 'whole', input_data: 'in', output_data: 'out' });
    expect((await get()).tags).to.include({ a: 'b' });
    await server.request('POST', '/spans', { body: [{ ...whole, name: 'whole again' }] });
    expect(await get()).to.include({ name: 'whole again', output_data: null });
    await sendAll([[{ ...event, timestamp: at(6) }]]);
    expect(await get()).to.include({ name: 'whole again', output_data: 'out' });
  });
});
