import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import { unhurried } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { mutate, random, valid } from './mutate.js';
import { attributes, otlpSpan, request, spanId, toProtobuf, TRACE_UUID, type Json } from './requests.js';

const MUTATIONS = 2_000;
const SEED = seedOf('MUTATION_SEED');
const SENDERS = 16;
const MAX_SECONDS = 5;
const MEBIBYTE = 1024 * 1024;
const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

interface Listed {
  readonly id: string;
  readonly span_count: number;
}

/** A span whose attribute is lists in lists. Written field by field: the library recurses, and would not get far. */
function deepProtobuf(levels: number): Buffer {
  const inField = (field: number, inner: Uint8Array) =>
    protobuf.Writer.create()
      .uint32((field << 3) | 2)
      .bytes(inner)
      .finish();
  let value: Uint8Array = Buffer.alloc(0);
  for (let level = 0; level < levels; level += 1) value = inField(5, inField(1, value)); // array_value of values
  const span = inField(9, inField(2, value)); // attributes, value
  return Buffer.from([1, 2, 2].reduceRight<Uint8Array>((inner, field) => inField(field, inner), span));
}

describe('OTLP over HTTP: hostile bodies', function () {
  this.timeout(120_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  async function post(body: Buffer, contentType: string, headers: Readonly<Record<string, string>> = {}) {
    const since = performance.now();
    const answer = await server.request('POST', '/v1/traces', {
      body,
      headers: { 'content-type': contentType, ...headers },
    });
    expect((performance.now() - since) / 1000, 'seconds').to.be.below(unhurried(MAX_SECONDS));
    return answer;
  }

  it(`${MUTATIONS} mutations (MUTATION_SEED=${SEED}) are stored or refused, and the lists still agree`, async () => {
    const pick = random(SEED);
    const bodies = [
      { type: JSON_TYPE, body: Buffer.from(JSON.stringify(valid)) },
      { type: PROTOBUF_TYPE, body: Buffer.from(toProtobuf(valid)) },
    ];
    const mutations = Array.from({ length: MUTATIONS }, (_, n) => {
      const { type, body } = bodies[n % 2]!;
      return { type, body: mutate(body, pick) };
    });
    const statuses = new Map<number, number>();
    const send = async () => {
      for (let next = mutations.pop(); next !== undefined; next = mutations.pop()) {
        const { status } = await post(next.body, next.type);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const rss = process.memoryUsage().rss;
    await Promise.all(Array.from({ length: SENDERS }, send));
    expect([...statuses.keys()].sort()).to.deep.equal([200, 400]);
    expect(statuses.get(200)).to.be.at.least(MUTATIONS / 20);
    expect((process.memoryUsage().rss - rss) / MEBIBYTE, 'MiB of memory').to.be.below(512);

    const { json: spans } = await server.request('GET', '/spans?limit=10000&fields=id,trace_id');
    const perTrace = new Map<string, number>();
    for (const { trace_id: id } of spans as { trace_id: string }[]) perTrace.set(id, (perTrace.get(id) ?? 0) + 1);
    const listed: Listed[] = [];
    for (let page: Listed[] = [], offset = 0; offset === 0 || page.length === 500; offset += 500) {
      ({ json: page } = await server.request('GET', `/traces?limit=500&offset=${offset}`));
      listed.push(...page);
    }
    expect(new Map(listed.map((trace) => [trace.id, trace.span_count]))).to.deep.equal(perTrace);
  });

  /** A span with one attribute, which is this JSON text. */
  const withValue = (value: string) =>
    Buffer.from(
      JSON.stringify(request([otlpSpan({ attributes: [{ key: 'k', value: 'HERE' }] })])).replace('"HERE"', value),
    );

  it('deep nesting is refused, in values that OTLP knows and in what it ignores', async () => {
    const deepArray = '{"arrayValue":{"values":['.repeat(50_000) + ']}}'.repeat(50_000);
    const cases = [
      await post(withValue(deepArray), JSON_TYPE),
      await post(Buffer.from('['.repeat(1_000_000)), JSON_TYPE),
      await post(Buffer.from(`{"unknown":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), JSON_TYPE),
      await post(deepProtobuf(5_000), PROTOBUF_TYPE),
      // Groups of protobuf, which OTLP does not use: opened and never closed.
      await post(Buffer.alloc(1_000_000, (15 << 3) | 3), PROTOBUF_TYPE),
    ];
    expect(cases.map(({ status }) => status)).to.deep.equal([400, 400, 400, 400, 400]);
  });

  it('bombs are refused: of gzip, of empty spans, of a resource that each span would repeat', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MEBIBYTE));
    const gzip = await post(bomb, PROTOBUF_TYPE, { 'content-encoding': 'gzip' });
    const emptySpans = { resourceSpans: [{ scopeSpans: [{ spans: Array.from({ length: 500_000 }, () => ({})) }] }] };
    const spans = await post(Buffer.from(toProtobuf(emptySpans)), PROTOBUF_TYPE);
    const many = Array.from({ length: 1_000 }, (_, n) => otlpSpan({ spanId: spanId(n + 1) }));
    const shared = await post(Buffer.from(toProtobuf(request(many, { text: 'x'.repeat(MEBIBYTE) }))), PROTOBUF_TYPE);
    expect([gzip.status, spans.status, shared.status]).to.deep.equal([413, 413, 413]);
  });

  it('spans that share few of their keys are refused beyond a bound, and those that share them are not', async () => {
    const spans = (keyOf: (span: number, attribute: number) => string) =>
      Array.from({ length: 250 }, (_, n) =>
        otlpSpan({
          spanId: spanId(1_000 + n),
          attributes: attributes(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [keyOf(n, at), 1]))),
        }),
      );
    const shared = request(spans((_, at) => `key ${at}`));
    const different = request(spans((n, at) => `key ${n} ${at}`));
    const statuses = [
      await post(Buffer.from(toProtobuf(shared)), PROTOBUF_TYPE),
      await post(Buffer.from(JSON.stringify(shared)), JSON_TYPE),
      await post(Buffer.from(toProtobuf(different)), PROTOBUF_TYPE),
      await post(Buffer.from(JSON.stringify(different)), JSON_TYPE),
    ].map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 200, 413, 413]);
  });

  it('JSON texts with too many different names are refused, wherever they would be read', async () => {
    const text = (of: string) =>
      JSON.stringify({
        role: 'user',
        ...Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`${of} ${at}`, 1])),
      });
    const send = async (keyOf: (n: number) => string, spanOf: (text: string, n: number) => Json) => {
      const spans = Array.from({ length: 120 }, (_, n) => spanOf(text(keyOf(n)), n));
      return (await post(Buffer.from(toProtobuf(request(spans))), PROTOBUF_TYPE)).status;
    };
    const inAttribute = (value: string, n: number) =>
      otlpSpan({ spanId: spanId(2_000 + n), attributes: attributes({ metadata: value }) });
    const inEvent = (value: string, n: number) =>
      otlpSpan({
        spanId: spanId(3_000 + n),
        events: [{ name: 'gen_ai.user.message', attributes: attributes({ 'gen_ai.event.content': value }) }],
      });
    for (const spanOf of [inAttribute, inEvent]) {
      expect(await send(() => 'same', spanOf)).to.equal(200);
      expect(await send((n) => `of ${n}`, spanOf)).to.equal(413);
    }
  });

  it('huge attributes come back whole, or the body is refused', async () => {
    const text = 'ü'.repeat(4 * MEBIBYTE);
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key ${n}`, n]));
    const huge: readonly Json[] = [
      otlpSpan({ spanId: spanId(1), attributes: attributes({ text }) }),
      otlpSpan({ spanId: spanId(2), attributes: attributes(many) }),
      otlpSpan({ spanId: spanId(3), attributes: attributes({ [`k${'y'.repeat(MEBIBYTE)}`]: 1 }) }),
    ];
    for (const span of huge)
      expect((await post(Buffer.from(toProtobuf(request([span]))), PROTOBUF_TYPE)).status).to.equal(200);
    const stored = async (n: number) => {
      const hex = spanId(n);
      const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-000000000000`;
      const { json } = await server.request('GET', `/spans?trace_id=${TRACE_UUID}&id=${id}`);
      return json[0].attributes as Record<string, unknown>;
    };
    expect((await stored(1)).text === text).to.equal(true);
    expect(await stored(2)).to.deep.equal({ ...many, 'otel.kind': 'client' });
    expect(Object.keys(await stored(3)).map((key) => key.length)).to.deep.equal([MEBIBYTE + 1, 'otel.kind'.length]);
    const tooLarge = otlpSpan({ attributes: attributes({ text: 'x'.repeat(33 * MEBIBYTE) }) });
    expect((await post(Buffer.from(toProtobuf(request([tooLarge]))), PROTOBUF_TYPE)).status).to.equal(413);
  });

  it('metadata beyond what tags may have is no reason to refuse a span', async () => {
    const small = await bootServer({ limits: { tagBytes: 1024 } });
    try {
      const context = Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`ai.settings.context.key ${n}`, 'v'.repeat(200)]),
      );
      const values = { ...context, 'tag.tags': ['beta', 't'.repeat(5_000)], 'user.id': 'ann', metadata: '{"a":"b"}' };
      const body = request([otlpSpan({ attributes: attributes(values) })]);
      const { status, json } = await small.request('POST', '/v1/traces', { body });
      expect([status, json]).to.deep.equal([200, {}]);
      for (const list of ['spans', 'traces']) {
        const found = await small.request('GET', `/${list}?user=ann&beta=true`);
        expect(found.json, list).to.have.length(1);
      }
    } finally {
      await small.dispose();
    }
  });

  it('odd texts neither break the request nor other spans', async () => {
    const odd = '\\u0000\\ud800__proto__\\u202e';
    const span = JSON.stringify(otlpSpan({ name: 'ODD', attributes: attributes({ ODD: 'ODD', __proto__x: 1 }) }));
    const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span.replaceAll('ODD', odd).replace('__proto__x', '__proto__')}]}]}]}`;
    expect((await post(Buffer.from(text), JSON_TYPE)).status).to.equal(200);
    const inSession = JSON.stringify(request([otlpSpan({ attributes: attributes({ 'session.id': 'ODD' }) })]));
    expect((await post(Buffer.from(inSession.replace('ODD', '\\ud800')), JSON_TYPE)).status).to.equal(200);
    const invalidUtf8 = Buffer.from(toProtobuf(request([otlpSpan({ name: 'NAME' })])));
    invalidUtf8.write('\xff\xfe\xc0\x80', invalidUtf8.indexOf('NAME'), 'latin1');
    expect((await post(invalidUtf8, PROTOBUF_TYPE)).status).to.equal(200);
    const { status, json } = await server.request('GET', `/spans?trace_id=${TRACE_UUID}`);
    expect(status).to.equal(200);
    expect(json).to.not.have.length(0);
    expect(({} as Record<string, unknown>)['stringValue']).to.equal(undefined);
  });
});
