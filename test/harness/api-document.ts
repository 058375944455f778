import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { TestResponse, TestServer } from './server.js';

// The document is looked into; a wrong guess at its shape fails an assertion.
export type Schema = Record<string, any>;

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Such as `/judges/{judge_id}:run`. */
  readonly path: string;
  /** Whether no key is needed. */
  readonly isPublic: boolean;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  /** By media type. */
  readonly bodies: ReadonlyMap<string, Schema>;
  readonly responses: Readonly<Record<string, Schema>>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Stricter than `date-time`: times of what is traced and learnt are answered in this one form. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Servers of one process answer the same document, but for its limits, and each schema of it takes long to compile. */
const known = new Map<string, ApiDocument>();

const referredTo = (text: string) => [...new Set(text.match(/#\/components\/[^"]+/g) ?? [])];

/** What schemas refer to. Known to the compiler once, so that it compiles each component once, not for each answer. */
const DOCUMENT = 'api';
const inDocument = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`)) as Schema;

/** The OpenAPI document that a server answers: what it takes, and a check of what it answers. */
export class ApiDocument {
  readonly operations: readonly Operation[];
  readonly #components: Schema;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<Schema, ValidateFunction>();
  readonly #templates: readonly { readonly path: string; readonly pattern: RegExp }[];

  /** @param time what a time must look like */
  private constructor(document: Schema, time: RegExp) {
    this.#ajv = new Ajv2020({ strict: false, formats: { uuid: UUID, 'date-time': time } });
    this.#components = document['components'];
    this.#ajv.addSchema({ components: this.#components }, DOCUMENT, false, false);
    this.operations = Object.entries<Schema>(document['paths']).flatMap(([path, methods]) =>
      Object.entries<Schema>(methods).map(([method, operation]) => ({
        id: operation['operationId'],
        method: method.toUpperCase(),
        path,
        isPublic: (operation['security'] as unknown[]).length === 0,
        parameters: operation['parameters'] ?? [],
        bodies: new Map(
          Object.entries<Schema>(operation['requestBody']?.content ?? {}).map(([type, { schema }]) => [type, schema]),
        ),
        responses: operation['responses'],
      })),
    );
    const paths = Object.keys(document['paths']).sort((a, b) => a.split('{').length - b.split('{').length);
    this.#templates = paths.map((path) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll(/[.:]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/:]+')}$`),
    }));
  }

  static async of(server: Pick<TestServer, 'request'>, time = TIME): Promise<ApiDocument> {
    const { text, json } = await server.request('GET', '/openapi.json', { key: null });
    const name = `${time.source} ${text}`;
    const document = known.get(name) ?? new ApiDocument(json, time);
    known.set(name, document);
    return document;
  }

  find(method: string, path: string): Operation | undefined {
    return this.operations.find((operation) => operation.method === method && operation.path === path);
  }

  /** What is referred to, or the schema or response itself. */
  resolve(node: Schema): Schema {
    const reference = node['$ref'] as string | undefined;
    if (reference === undefined) return node;
    return reference
      .slice('#/components/'.length)
      .split('/')
      .reduce<Schema>((found, name) => found[name], this.#components);
  }

  /** The description of what an operation takes, with all that it refers to: for looking for names in it. */
  takenBy({ path, parameters, bodies }: Operation): string {
    let text = `${path} ${JSON.stringify([parameters, ...bodies.values()])}`;
    const seen = new Set<string>();
    for (let left = referredTo(text); left.length > 0;) {
      for (const reference of left) seen.add(reference);
      const more = left.map((reference) => JSON.stringify(this.resolve({ $ref: reference }))).join(' ');
      text += more;
      left = referredTo(more).filter((reference) => !seen.has(reference));
    }
    return text;
  }

  /** @throws AssertionError when the document does not describe such an answer */
  check(method: string, url: string, response: TestResponse): void {
    const plain = url.split('?', 1)[0] ?? '';
    const template = this.#templates.find(({ pattern }) => pattern.test(plain));
    expect(template, `${plain} is not described`).to.not.equal(undefined);
    const operation = this.find(method, template?.path ?? '');
    expect(operation, `${method} ${plain} is not described`).to.not.equal(undefined);
    if (operation !== undefined) this.checkAnswer(operation, response);
  }

  /** @throws AssertionError when the operation does not describe such an answer */
  checkAnswer({ method, path, responses }: Operation, response: TestResponse): void {
    const answer = `${method} ${path} answers ${response.status}: ${response.text.slice(0, 500)}`;
    const described = responses[response.status];
    expect(described, answer).to.not.equal(undefined);
    const contents = Object.entries<Schema>(this.resolve(described ?? {})['content'] ?? {});
    const [content] = contents;
    if (content === undefined) return;
    const [mediaType, { schema }] = content as [string, { schema: Schema }];
    if (!mediaType.endsWith('json')) return;
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(inDocument(schema));
    this.#compiled.set(schema, validate);
    expect(validate(response.json), `${JSON.stringify(validate.errors)}, ${answer}`).to.equal(true);
  }
}
