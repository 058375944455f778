import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { TooManyBytesError } from '../../src/engine/traces/write/row-binary.js';
import { RowEncoder, type AppendedWrites, type EncodedRows } from '../../src/engine/traces/write/rows.js';
import { storedSpan } from '../harness/span.js';

const PROJECT = randomUUID();

const text = fc.string({ unit: fc.constantFrom('a', '\u0001', '"', 'é', '漢', '😀', '\ud800', '['), maxLength: 400 });
const tags = fc.dictionary(fc.string({ minLength: 1 }), text, { maxKeys: 3 });
const span = fc
  .record({
    name: text,
    input_data: fc.option(text),
    output_data: fc.option(text),
    cost: fc.option(fc.constantFrom(0, 0.1, 1e-12, 1e12)),
    attributes: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
    tags,
    session_tags: tags,
    error_message: fc.option(text),
  })
  .map((parts) => storedSpan(parts));
const trace = fc.record({ name: text, tags }).map((parts) => ({
  ...{ id: randomUUID(), session_id: randomUUID(), status: null, started_at: 0, ended_at: null },
  ...{ duration_ms: null, cost: null, attributes: {} },
  ...parts,
}));
const session = fc
  .record({ name: text, tags })
  .map((parts) => ({ id: randomUUID(), attributes: { text: parts.name }, ...parts }));
const writes = fc.record({
  projectId: fc.constant(PROJECT),
  spans: fc.array(span, { maxLength: 5 }),
  traces: fc.array(trace, { maxLength: 3 }),
  sessions: fc.array(session, { maxLength: 3 }),
});

function deep(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** What no row can be made of, each failing in another column, behind others that were written. */
const unwritable: readonly Record<string, unknown>[] = [
  { attributes: { deep: deep(100_000) } },
  { attributes: { n: 1n } },
  { cost: Number.NaN },
  { code_lineno: -1 },
  { tags: null },
  { error_stack: 7 },
];
const failing = fc.oneof(
  // The parts are of no span that validation lets through: whatever gets past it must not hurt others.
  fc
    .tuple(writes, fc.constantFrom(...unwritable), fc.nat())
    .map(([all, parts, at]) => ({ writes: withSpan(all, at, parts), maxBytes: Number.POSITIVE_INFINITY })),
  fc
    .tuple(writes, fc.nat())
    .filter(([all]) => bytesOf(new RowEncoder().encode(all)) > 0)
    .map(([all, n]) => ({ writes: all, maxBytes: n % bytesOf(new RowEncoder().encode(all)) })),
);

function withSpan(all: AppendedWrites, at: number, parts: object): AppendedWrites {
  const spans = [...(all.spans ?? [])];
  spans.splice(at % (spans.length + 1), 0, storedSpan(parts));
  return { ...all, spans };
}

function bytesOf(tables: readonly EncodedRows[]): number {
  return tables.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

describe('encoding rows', () => {
  it('leaves nothing behind when it fails, wherever: what comes next is what a fresh encoder gives', () => {
    fc.assert(
      fc.property(writes, fc.array(failing, { minLength: 1, maxLength: 3 }), writes, (before, failures, after) => {
        const encoder = new RowEncoder();
        const first = encoder.encode(before);
        const kept = structuredClone(first.map(({ bytes }) => bytes.toString('hex')));
        for (const { writes: bad, maxBytes } of failures) expect(() => encoder.encode(bad, maxBytes)).to.throw();
        expect(encoder.encode(after)).to.deep.equal(new RowEncoder().encode(after));
        expect(first.map(({ bytes }) => bytes.toString('hex'))).to.deep.equal(kept);
      }),
    );
  });

  it('counts to the byte what all tables take together', () => {
    fc.assert(
      fc.property(writes, (all) => {
        const encoded = new RowEncoder().encode(all);
        const bytes = bytesOf(encoded);
        expect(new RowEncoder().encode(all, bytes)).to.deep.equal(encoded);
        if (bytes > 0) expect(() => new RowEncoder().encode(all, bytes - 1)).to.throw(TooManyBytesError);
      }),
    );
  });

  it('counts to the byte where the buffer has to grow, too', () => {
    for (const character of ['a', '\u0001', 'é', '漢', '😀']) {
      const large = { projectId: PROJECT, spans: [storedSpan({ input_data: character.repeat(300_000) })] };
      const encoded = new RowEncoder().encode(large);
      expect(new RowEncoder().encode(large, bytesOf(encoded))).to.deep.equal(encoded);
      expect(() => new RowEncoder().encode(large, bytesOf(encoded) - 1)).to.throw(TooManyBytesError);
    }
  });

  it('stops long before everything is written when it is too much', () => {
    const shared = { big: 'x'.repeat(1_000_000) };
    const spans = Array.from({ length: 10_000 }, () => storedSpan({ attributes: shared }));
    const before = process.memoryUsage().arrayBuffers;
    const encoder = new RowEncoder();
    expect(() => encoder.encode({ projectId: PROJECT, spans }, 8e6)).to.throw(TooManyBytesError);
    expect(process.memoryUsage().arrayBuffers - before, 'bytes').to.be.below(32e6);
  });
});
