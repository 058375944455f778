import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.js';
import { decodeJson } from '../../../src/transport/otlp/json.js';
import { decodeProtobuf } from '../../../src/transport/otlp/protobuf.js';
import { toSpans } from '../../../src/transport/otlp/span.js';
import { attributes, event, otlpSpan, request, spanId, toProtobuf, TRACE } from './requests.js';

const MUTATIONS = 5000;

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const INTERESTING = [
  0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x2b, 0x22, 0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x2d, 0x65, 0x39,
];

/** One to four changes: a bit flipped, a byte replaced, bytes cut, doubled or inserted. */
function mutate(body: Buffer, pick: (below: number) => number): Buffer {
  let mutated = Buffer.from(body);
  for (let changes = 1 + pick(4); changes > 0 && mutated.length > 0; changes--) {
    const at = pick(mutated.length);
    const length = 1 + pick(Math.min(40, mutated.length - at));
    const kind = pick(5);
    if (kind === 0) mutated[at]! ^= 1 << pick(8);
    else if (kind === 1) mutated[at] = INTERESTING[pick(INTERESTING.length)]!;
    else if (kind === 2) mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + length)]);
    else if (kind === 3) mutated = Buffer.concat([mutated.subarray(0, at + length), mutated.subarray(at)]);
    else
      mutated = Buffer.concat([
        mutated.subarray(0, at),
        Buffer.alloc(length, INTERESTING[pick(INTERESTING.length)]),
        mutated.subarray(at),
      ]);
  }
  return mutated;
}

const valid = request(
  [
    otlpSpan({
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.prompt.0.content': 'Hi',
        'gen_ai.prompt.3.tool_calls.1.name': 'x',
        'session.id': 'chat-1',
        nested: [1, { a: ['b', 2.5, true, null] }],
      }),
      events: [
        event('exception', { 'exception.type': 'E', 'exception.message': 'm' }),
        event('gen_ai.choice', { message: '{"content":"a"}' }),
      ],
      links: [{ traceId: TRACE, spanId: spanId(4), attributes: attributes({ k: 'v' }) }],
      status: { code: 2, message: 'failed' },
    }),
    otlpSpan({ spanId: spanId(2), parentSpanId: spanId(1), name: 'ünïcode 🙂' }),
  ],
  { 'service.name': 'api', 'deployment.environment': 'test' },
  { name: 'lib', version: '1' },
);

/** Decodes and maps; a refusal must be one that the endpoint can answer. */
function accepted(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.kind).to.be.oneOf(['malformed', 'too_large']);
    return false;
  }
}

/** Runs all mutations of a body: each is decoded or refused, at once, and together they leave no memory behind. */
function survive(body: Buffer, decode: (bytes: Buffer) => unknown): void {
  const pick = random(20_260_101);
  const before = process.memoryUsage().heapUsed;
  let taken = 0;
  let slowest = 0;
  for (let i = 0; i < MUTATIONS; i++) {
    const mutated = mutate(body, pick);
    const started = process.cpuUsage();
    if (accepted(() => decode(mutated))) taken++;
    const { user, system } = process.cpuUsage(started);
    slowest = Math.max(slowest, (user + system) / 1000);
  }
  expect(taken).to.be.within(1, MUTATIONS - 1);
  expect(slowest, 'ms of processor time for one body').to.be.below(500);
  expect(process.memoryUsage().heapUsed - before).to.be.below(256 * 1024 * 1024);
}

describe(`OTLP: ${MUTATIONS} mutations of a valid body`, function () {
  this.timeout(60_000);

  it('in protobuf are decoded or refused', () => {
    survive(Buffer.from(toProtobuf(valid)), (bytes) => JSON.stringify(toSpans(decodeProtobuf(bytes))));
  });

  it('in JSON are decoded or refused', () => {
    survive(Buffer.from(JSON.stringify(valid)), (bytes) => {
      let value: unknown;
      try {
        value = JSON.parse(bytes.toString('utf8'));
      } catch {
        throw new DomainError('malformed', 'no JSON'); // the HTTP layer's part
      }
      return JSON.stringify(toSpans(decodeJson(value)));
    });
  });

  it('of the shape in JSON are decoded or refused: any value in any place', () => {
    const pick = random(42);
    const values: unknown[] = [
      null,
      0,
      -1,
      1.5,
      1e300,
      '',
      'x',
      '9'.repeat(400),
      true,
      [],
      {},
      [[]],
      [null],
      { values: 1 },
      { stringValue: {} },
    ];
    let taken = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      const copy = JSON.parse(JSON.stringify(valid)) as unknown;
      replaceSomewhere(copy, values[pick(values.length)], pick);
      if (accepted(() => JSON.stringify(toSpans(decodeJson(copy))))) taken++;
    }
    expect(taken).to.be.within(1, MUTATIONS - 1);
  });
});

function replaceSomewhere(root: unknown, value: unknown, pick: (below: number) => number): void {
  let node = root as Record<string, unknown>;
  for (;;) {
    const keys = Object.keys(node);
    if (keys.length === 0) return;
    const key = keys[pick(keys.length)]!;
    const inner = node[key];
    if (typeof inner !== 'object' || inner === null || pick(5) === 0) {
      node[key] = value;
      return;
    }
    node = inner as Record<string, unknown>;
  }
}
