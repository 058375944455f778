import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { assertValid, compile } from '../../src/engine/validation/validation.js';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

describe('validation', () => {
  const detail = (schema: Parameters<typeof compile>[0], value: unknown) =>
    compile(schema)
      .issues(value)
      .map((issue) => `${issue.pointer} ${issue.detail}`);

  it('says in words what a value must be', () => {
    const cases: [Parameters<typeof compile>[0], unknown, string][] = [
      [Type.String(), 1, 'must be a string'],
      [Type.Integer({ minimum: 1 }), 0, 'must be at least 1'],
      [Type.Integer(), 1.5, 'must be a whole number'],
      [Type.Number({ exclusiveMinimum: 0 }), 0, 'must be greater than 0'],
      [Type.String({ minLength: 1 }), '', 'must not be empty'],
      [Type.String({ maxLength: 3 }), 'abcd', 'must have at most 3 characters'],
      [Type.String({ format: 'uuid' }), 'x', 'must be a UUID'],
      [nullable(Type.String({ format: 'uuid' })), 'x', 'must be a UUID'],
      [nullable(Type.String()), 1, 'must be a string or null'],
      [nullable(Type.Object({ id: Type.String() })), 1, 'must be an object or null'],
      [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'c', 'must be one of a, b'],
      [Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()]), 'c', 'must be one of a, b'],
      [Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {}, 'must be a string, a number or true or false'],
      [Type.Unsafe({ type: ['string', 'null'] }), 5, 'must be a string or null'],
      [Type.Unsafe({ enum: ['x', 'y'] }), 5, 'must be one of x, y'],
      [Type.String({ pattern: '^[a-z]+$', 'x-must': 'be lower-case letters' }), 'A', 'must be lower-case letters'],
      [Type.Array(Type.Any(), { maxItems: 1 }), [1, 2], 'must have at most 1 items'],
    ];
    for (const [schema, value, expected] of cases) expect(detail(schema, value)).to.deep.equal([` ${expected}`]);
  });

  it('finds every broken rule, at its place', () => {
    const schema = Type.Object(
      {
        id: Type.String({ format: 'uuid' }),
        session: Type.Optional(
          nullable(Type.Object({ id: Type.String(), tags: Type.Record(Type.String(), Type.String()) })),
        ),
        list: Type.Array(Type.Object({ n: Type.Number() })),
      },
      { additionalProperties: false },
    );
    expect(
      detail(schema, { id: 1, session: { tags: { ok: 'x', bad: 1 } }, list: [{ n: 1 }, {}, 7], more: 1 }),
    ).to.deep.equal([
      '/id must be a string',
      '/session/id is required',
      '/session/tags/bad must be a string',
      '/list/1/n is required',
      '/list/2 must be an object',
      '/more is unknown',
    ]);
    expect(detail(schema, { id: '0197f3a0-0000-7000-8000-000000000001', session: null, list: [] })).to.deep.equal([]);
  });

  it('takes no inherited property for one that was sent', () => {
    const schema = Type.Object({ name: Type.String() });
    expect(detail(schema, JSON.parse('{"__proto__":{"name":"x"}}'))).to.deep.equal(['/name is required']);
  });

  it('agrees with itself: what is not accepted has an issue, what is accepted has none', () => {
    const schema = Type.Object({
      a: nullable(Type.Array(nullable(Type.Integer()))),
      b: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
    });
    const validator = compile(schema);
    const values = [
      { a: null },
      { a: [1, null] },
      { a: ['x'] },
      { a: 1 },
      {},
      { a: [], b: {} },
      { a: [], b: { c: 1 } },
      [],
      null,
      { a: [], b: null },
    ];
    for (const value of values) {
      expect(validator.issues(value).length === 0, JSON.stringify(value)).to.equal(validator.accepts(value));
    }
  });

  it('stops at the limit, wherever the broken rules are', () => {
    const schema = Type.Array(Type.Record(Type.String(), Type.Array(Type.Number())));
    const value = [{ a: Array.from({ length: 500 }, () => 'x') }, { b: Array.from({ length: 500 }, () => 'x') }];
    expect(compile(schema).issues(value)).to.have.length(100);
    expect(
      compile(schema)
        .issues(value, '/7', 3)
        .map(({ pointer }) => pointer),
    ).to.deep.equal(['/7/0/a/0', '/7/0/a/1', '/7/0/a/2']);
  });

  it('costs no more than the parsing did, however much is broken', () => {
    const schema = Type.Array(Type.Object({ tags: Type.Record(Type.String(), Type.String()) }));
    const validator = compile(schema);
    validator.issues([{ tags: {} }, 1]);
    const cpuOf = (work: () => unknown) => {
      const start = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    const texts = [
      `[${Array.from({ length: 1_000_000 }, () => '{"tags":5}').join(',')}]`,
      `[{"tags":{${Array.from({ length: 500_000 }, (_, i) => `"k${i}":[]`).join(',')}}}]`,
    ];
    for (const text of texts) {
      let value: unknown;
      const parsing = cpuOf(() => (value = JSON.parse(text)));
      const validating = cpuOf(() => expect(validator.issues(value)).to.have.length(100));
      expect(validating / parsing).to.be.below(2);
    }
  }).timeout(20_000);

  it('does not send a huge name back', () => {
    const [issue] = compile(Type.Record(Type.String(), Type.String())).issues({ ['k'.repeat(1_000_000)]: 1 });
    expect(issue?.pointer.length).to.be.below(200);
  });

  it('throws one typed error', () => {
    const validator = compile(Type.Object({ n: Type.Number() }, { $id: 'Named' }));
    expect(assertValid(validator, { n: 1 })).to.deep.equal({ n: 1 });
    expect(() => assertValid(validator, {}))
      .to.throw(DomainError, '/n is required')
      .with.property('kind', 'invalid');
  });
});
