import { attributes, event, otlpSpan, request, spanId, TRACE } from './requests.js';

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
export function random(seed: number): (below: number) => number {
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
export function mutate(body: Buffer, pick: (below: number) => number): Buffer {
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

/** A request with every kind of part. */
export const valid = request(
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
