import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { bootServer, type TestServer } from '../harness/server.js';
import { mutate, random, valid } from '../otlp/mutate.js';
import { toProtobuf } from '../otlp/requests.js';
import { secondProject } from '../prompts/prompt-api.js';

const RUNS = 150;
const MUTATIONS = 300;
const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    '\u0000',
    '"',
    '\\',
    'é',
    '漢',
    '😀',
    '\ud800',
    '"created_at":"',
    '1970-01-01T00:00:00.000000Z',
  ),
  maxLength: 40,
});
const anything = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(null, -1, 1e400, '2026-13-01', []));
const attributes = fc
  .record({
    model: fc.constantFrom('gpt-4o', 'house', 'nothing'),
    provider: fc.constantFrom('openai', 'é"', null),
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    created_at: text,
    prompt_version_id: fc.uuid(),
    task: text,
    __proto__: fc.jsonValue({ maxDepth: 1 }),
  })
  .chain((all) => fc.subarray(Object.entries(all)).map((entries) => Object.fromEntries(entries)));
const good = {
  id: fc.uuid(),
  trace_id: fc.uuid(),
  name: fc.string({ minLength: 1, maxLength: 20 }),
  started_at: fc.constantFrom('2026-01-31T10:00:00Z', 1_769_853_600, '2026-01-31T10:00:00.000001+02:00'),
};
const more = {
  ended_at: fc.constantFrom('2026-01-31T10:00:01Z', null),
  session: fc.record({ id: fc.uuid(), name: text, other: anything }, { requiredKeys: ['id'] }),
  kind: fc.constantFrom('llm', 'generic', 'tool'),
  status: fc.constantFrom('ok', 'error', null),
  cost: fc.constantFrom(0.25, 1e-12, null),
  input_data: text,
  output_data: fc.oneof(text, fc.jsonValue({ maxDepth: 2 })),
  attributes,
  tags: fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), text, { maxKeys: 3 }),
  error_message: text,
  code_lineno: fc.nat(),
  unknown_field: fc.constantFrom(1, null, 'x'),
  signals: fc.dictionary(fc.constantFrom('helpful', 'level'), fc.constantFrom(true, 0.5, 'true', { value: '1' })),
  ab_choices: fc.constantFrom(null, [], [{ choice_name: 'model', variant_key: 'a' }]),
};
const span = fc.record({ ...good, ...more }, { requiredKeys: ['id', 'trace_id', 'name', 'started_at'] });
/** A span of which one field may be anything; without an id, it gets a random one. */
const hostile = fc
  .tuple(span, fc.constantFrom(...Object.keys({ ...good, ...more })), anything)
  .filter(([, field, value]) => field !== 'id' || value !== null)
  .map(([parts, field, value]) => ({ ...parts, [field]: value }));
const spans = fc.oneof(
  { weight: 3, arbitrary: fc.array(span, { maxLength: 6 }) },
  { weight: 2, arbitrary: fc.array(fc.oneof({ weight: 4, arbitrary: span }, hostile, anything), { maxLength: 6 }) },
  { weight: 1, arbitrary: anything },
);

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly prefer?: string;
}

describe('bodies that threads read', function () {
  this.timeout(300_000);
  let inline: TestServer;
  let threaded: TestServer;
  before(async () => {
    [inline, threaded] = await Promise.all([
      bootServer({ env: { INGEST_THREADS: '0' } }),
      bootServer({ env: { INGEST_THREADS: '2' }, bodyThreads: { leastBytes: 1 } }),
    ]);
    const price = { body: { input_per_million: 1, output_per_million: 2 } };
    for (const server of [inline, threaded])
      await server.request('PUT', `/projects/${server.projectId}/model-prices/openai/house`, price);
  });
  after(() => Promise.all([inline.dispose(), threaded.dispose()]));

  async function answer(server: TestServer, { path, type, body, prefer }: Sent) {
    const headers = { 'content-type': type, ...(prefer !== undefined && { prefer }) };
    const { status, text, headers: answered } = await server.request('POST', path, { body, headers });
    const told = ['content-type', 'content-length', 'x-unknown-fields', 'preference-applied', 'retry-after'];
    return { status, text: asIfAtOnce(text), told: told.map((name) => answered.get(name)) };
  }

  async function expectSame(sent: Sent): Promise<number> {
    const [one, other] = await Promise.all([answer(inline, sent), answer(threaded, sent)]);
    expect(other).to.deep.equal(one);
    return one.status;
  }

  it('are answered the same, byte for byte', async () => {
    const statuses = new Set<number>();
    const sent = fc.tuple(spans, fc.constantFrom(undefined, 'return=minimal'));
    await fc.assert(
      fc.asyncProperty(sent, async ([list, prefer]) => {
        const body = Buffer.from(JSON.stringify(list));
        statuses.add(await expectSame({ path: '/spans', type: JSON_TYPE, body, ...(prefer && { prefer }) }));
      }),
      { numRuns: RUNS },
    );
    expect([...statuses]).to.have.members([200, 422]);
  });

  it('are refused the same, however they are broken', async () => {
    const pick = random(20_261_125);
    const good = [{ id: randomUUID(), trace_id: randomUUID(), name: 'é', started_at: 1, attributes: { model: 'm' } }];
    const bodies = [
      { path: '/spans', type: JSON_TYPE, body: Buffer.from(JSON.stringify(good)) },
      { path: '/v1/traces', type: JSON_TYPE, body: Buffer.from(JSON.stringify(valid)) },
      { path: '/v1/traces', type: PROTOBUF_TYPE, body: Buffer.from(toProtobuf(valid)) },
    ];
    const statuses = new Set<number>();
    for (let n = 0; n < MUTATIONS; n += 1) {
      const one = bodies[n % bodies.length]!;
      const body = mutate(one.body, pick);
      // Which id a span without one gets is for no two servers the same.
      if (one.path === '/spans' && !body.includes('"id":"')) continue;
      if (body.length > 0) statuses.add(await expectSame({ ...one, body }));
    }
    expect([...statuses]).to.include.members([200, 400, 422]);
    for (const body of ['[', '{"a":', '[{}'.repeat(2_000), '\u00ff', `[${'{},'.repeat(5_000_000)}{}]`])
      await expectSame({ path: '/spans', type: JSON_TYPE, body: Buffer.from(body, 'latin1') });
  });

  it('are answered the same to a key that may only send', async () => {
    const body = Buffer.from(
      JSON.stringify([{ ...sentCall(), id: randomUUID(), trace_id: randomUUID(), created_at: 'x' }]),
    );
    for (const server of [inline, threaded]) {
      const { key } = secondProject(server);
      expect((await server.request('POST', '/spans', { body, key })).status).to.equal(200);
    }
    expect(await expectSame({ path: '/spans', type: JSON_TYPE, body })).to.equal(200);
  });

  it('are stored the same', async () => {
    const stored = await Promise.all([inline, threaded].map((server) => everything(server)));
    expect(stored[0]).to.have.length.above(RUNS / 4);
    expect(stored[1]).to.deep.equal(stored[0]);
  });

  async function everything(server: TestServer): Promise<string[]> {
    const all: string[] = [];
    for (const list of ['spans', 'traces', 'sessions']) {
      for (let offset = 0; ; offset += 100) {
        const { status, json, text } = await server.request('GET', `/${list}?limit=100&offset=${offset}`);
        expect(status, text).to.equal(200);
        all.push(...(json as object[]).map((row) => asIfAtOnce(JSON.stringify(row))));
        if (json.length < 100) break;
      }
    }
    return all.sort();
  }
});

function sentCall() {
  const attributes = { model: 'house', provider: 'openai', inputTokens: 1_000_000, outputTokens: 1_000_000 };
  return { name: 'call', kind: 'llm', started_at: 1_769_853_600, attributes };
}

/** The text without what differs from one moment, or request, to the next. */
function asIfAtOnce(text: string): string {
  return text
    .replaceAll(/"(created_at|updated_at)":"20[^"]*"/g, '"$1":""')
    .replaceAll(/"request_id":"[^"]*"/g, '"request_id":""');
}
