import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { decodeJson } from '../../src/otlp/json.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { toSpans } from '../../src/otlp/span.js';
import { mutate, random, valid } from './mutate.js';
import { toProtobuf } from './requests.js';

const MUTATIONS = 5000;

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
