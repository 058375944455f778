import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError } from '../../src/domain/errors.js';
import { JsonDepthError, MAX_JSON_DEPTH, parseJsonText, toJsonText } from '../../src/domain/json-text.js';
import { parseJson } from '../../src/transport/json.js';

describe('parsing JSON bodies', () => {
  it('gives what was written, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJson(Buffer.from(text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  it('refuses any bytes with a typed error, never another', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc.string({ unit: fc.constantFrom(...'[]{}",:\\ae1') }).map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          try {
            parseJson(Buffer.from(bytes));
          } catch (error) {
            expect(error).to.be.instanceOf(DomainError).with.property('kind', 'malformed');
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('counts depth, and only outside of strings', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(parseJson(nested(MAX_JSON_DEPTH))).to.be.an('array');
    expect(() => parseJson(nested(MAX_JSON_DEPTH + 1))).to.throw(DomainError, 'deeper');
    const brackets = '[{'.repeat(500);
    for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\`]) {
      expect(parseJson(Buffer.from(`["${text}"]`))).to.have.length(1);
    }
    const wide = `[${Array.from({ length: 1000 }, () => '[{}]').join(',')}]`;
    expect(parseJson(Buffer.from(wide))).to.have.length(1000);
  });

  it('finds the end of long strings, wherever quotes and backslashes stand in them', () => {
    const letters = fc.constantFrom('a', '"', '\\', '[', 'é', '\n');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: letters, minLength: 40, maxLength: 200 }), { maxLength: 5 }), (texts) => {
        const deep = '['.repeat(MAX_JSON_DEPTH - 1) + ']'.repeat(MAX_JSON_DEPTH - 1);
        const json = `[${[...texts.map((text) => JSON.stringify(text)), deep].join(',')}]`;
        expect(parseJson(Buffer.from(json))).to.deep.equal(JSON.parse(json));
        expect(() => parseJson(Buffer.from(`[${json}]`))).to.throw(DomainError, 'deeper');
      }),
      { numRuns: 500 },
    );
  });
});

describe('reading JSON text', () => {
  it('gives what was written, or says that it is none', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(parseJsonText(JSON.stringify(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(() => parseJsonText('[1,')).to.throw(SyntaxError);
  });

  it('bounds its depth as that of a body, before anything is built from it', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJsonText(nested(MAX_JSON_DEPTH))).to.be.an('array');
    expect(() => parseJsonText(nested(MAX_JSON_DEPTH + 1))).to.throw(JsonDepthError);
    expect(() => parseJsonText(nested(7), 6)).to.throw(JsonDepthError);
    const since = performance.now();
    expect(() => parseJsonText('{"a":['.repeat(5_000_000))).to.throw(JsonDepthError);
    expect(performance.now() - since, 'ms').to.be.below(1000);
  });

  it('says of a value that no text can hold that it is too large', () => {
    const long = 'x'.repeat(300_000_000);
    expect(() => toJsonText([long, long]))
      .to.throw(DomainError)
      .with.property('kind', 'too_large');
  });
});
