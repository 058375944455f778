import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError } from '../../src/engine/errors.js';
import {
  JsonBoundError,
  MAX_JSON_DEPTH,
  MAX_JSON_NAMES,
  MAX_JSON_VALUES,
  parseJsonText,
  toJsonText,
} from '../../src/engine/json-text.js';
import { parseJson } from '../../src/http/wire/json.js';
import { unhurried } from '../harness/program.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

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

describe('JSON of very many parts', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await sharedServer();
  });
  after(() => server.dispose());

  const TRACE = '0197f3a0-0000-7000-8000-00000000000a';
  const named = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');
  const refused: Readonly<Record<string, readonly [body: string, said: string]>> = {
    'attributes with too many names': [`[{"attributes":{${named(MAX_JSON_NAMES + 1)}}}]`, 'distinct member names'],
    'unknown fields': [`[{${named(2 * MAX_JSON_NAMES)}}]`, 'distinct member names'],
    'objects with a name each': [`[{${named(2 * MAX_JSON_NAMES).replaceAll(',', '},{')}}]`, 'distinct member names'],
    'empty spans': [`[${'{},'.repeat(MAX_JSON_VALUES / 2)}{}]`, 'values'],
    numbers: [`[${'0,'.repeat(MAX_JSON_VALUES)}0]`, 'values'],
  };
  for (const [what, [body, said]] of Object.entries(refused)) {
    it(`is refused before it keeps anybody waiting: ${what}`, async () => {
      const { status, json } = await server.request('POST', '/spans', { body });
      expect([status, json.type]).to.deep.equal([413, 'urn:spanhouse:problem:too_large']);
      expect(json.detail).to.include(said);
    });
  }

  it('is read when the names are the same ones again', async () => {
    const tag = '{"model":"m","temperature":0,"top_p":1}';
    const spans = Array.from(
      { length: 2_000 },
      (_, index) =>
        `{"trace_id":"${TRACE}","name":"s${index}","started_at":1700000000,"attributes":{"runs":[${`${tag},`.repeat(19)}${tag}]}}`,
    );
    const { status, json } = await server.request('POST', '/spans', { body: `[${spans.join(',')}]` });
    expect([status, json.length]).to.deep.equal([200, 2_000]);
  });

  it('is refused as the text of a field, too, when it would be searched for images', async () => {
    const outputs = `[{"type":"image","url":"https://x/"},{${named(MAX_JSON_NAMES + 1)}}]`;
    const { status, json } = await server.request('POST', '/spans', {
      body: [{ trace_id: TRACE, name: 's', started_at: 1_700_000_000, output_data: outputs }],
    });
    expect([status, json.detail]).to.deep.equal([
      422,
      '/0/output_data must not be JSON that has more than 100,000 distinct member names',
    ]);
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
    expect(() => parseJsonText(nested(MAX_JSON_DEPTH + 1))).to.throw(JsonBoundError);
    expect(() => parseJsonText(nested(7), 6)).to.throw(JsonBoundError);
    const since = performance.now();
    expect(() => parseJsonText('{"a":['.repeat(5_000_000))).to.throw(JsonBoundError);
    expect(performance.now() - since, 'ms').to.be.below(unhurried(1_000));
  });

  it('says of a value that no text can hold that it is too large', () => {
    const long = 'x'.repeat(300_000_000);
    expect(() => toJsonText([long, long]))
      .to.throw(DomainError)
      .with.property('kind', 'too_large');
  });
});
