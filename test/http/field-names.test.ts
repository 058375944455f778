import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

/** Old names of fields of answers, with the names that the contract has for them. */
const OLD_NAMES = [
  ['input', 'input_data'],
  ['output', 'output_data'],
  ['passed', 'evaluation_result'],
] as const;

/** What is called so and is something else: text that a model wrote, which no span has. */
const OTHERS = ['PlaygroundRun.output', 'Optimization.output'];

interface Field {
  readonly schema: string;
  readonly properties: Readonly<
    Record<string, { readonly type?: string; readonly deprecated?: boolean; anyOf?: { type?: string }[] }>
  >;
}

describe('names of fields in answers', () => {
  let server: TestServer;
  let objects: Field[];

  before(async () => {
    server = await sharedServer();
    const { components } = (await server.request('GET', '/openapi.json', { key: null })).json;
    objects = Object.entries<object>(components.schemas).flatMap(([schema, described]) => objectsOf(schema, described));
  });
  after(() => server.dispose());

  for (const [old, name] of OLD_NAMES)
    it(`${old} stands beside ${name} and is deprecated`, () => {
      const found = objects.filter(({ properties }) => properties[old] !== undefined && !isCount(properties[old]));
      // Clients of Langfuse and Phoenix read and send what they know from there.
      const named = found.filter(({ schema }) => !/^(Langfuse|Phoenix)/.test(schema));
      const own = named.filter(({ schema }) => !OTHERS.includes(`${schema}.${old}`));
      expect(own).to.have.length.above(1);
      for (const { schema, properties } of own) {
        expect(properties, schema).to.have.property(name);
        expect(properties[old]?.deprecated, schema).to.equal(true);
        expect(properties[name]?.deprecated, schema).to.equal(undefined);
      }
    });
});

/** Numbers of what passed are called `passed` as well. */
const isCount = (property: Field['properties'][string] | undefined) =>
  property?.type === 'integer' || property?.type === 'array';

function objectsOf(schema: string, described: unknown): Field[] {
  if (typeof described !== 'object' || described === null) return [];
  const inside = Object.values(described).flatMap((value) => objectsOf(schema, value));
  const { properties } = described as Partial<Field>;
  return typeof properties === 'object' ? [{ schema, properties }, ...inside] : inside;
}
