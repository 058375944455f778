import { createHash, randomUUID } from 'node:crypto';
import type { Operation, Schema } from '../harness/api-document.js';
import type { Row } from '../harness/checked-api.js';
import {
  badlyPackedBody,
  malformedBody,
  malformedHeaders,
  malformedPathValue,
  malformedQuery,
  pick,
  type MalformedBody,
  type Random,
} from './malformed-requests.js';
import type { MalformedScene } from './malformed-scene.js';
import { valueText } from './schema-values.js';

/** One request that may be refused. */
export interface MalformedCall {
  readonly url: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** What was done to it. */
  readonly kind: string;
  /** Of the elements of a body that is a list. */
  readonly ids?: readonly string[];
}

/** Not random: the first of what there is. */
const first = () => 0;

/** Makes malformed calls of one operation, from what the document says of it. */
export class MalformedCalls {
  readonly #scene: MalformedScene;
  readonly #operation: Operation;

  constructor(scene: MalformedScene, operation: Operation) {
    this.#scene = scene;
    this.#operation = operation;
  }

  /** Null where the body is no JSON, or there is none. */
  get #schema(): Schema | null {
    const schema = this.#operation.bodies.get('application/json');
    const found = schema === undefined ? null : this.#scene.document.resolve(schema);
    return found?.['format'] === 'binary' ? null : found;
  }

  get takesBody(): boolean {
    return this.#schema !== null;
  }

  /** Whether it takes a list of things that have ids. */
  get takesList(): boolean {
    const { type, items = {} } = this.#schema ?? {};
    return type === 'array' && Object.hasOwn(this.#scene.document.resolve(items).properties ?? {}, 'id');
  }

  get takesQuery(): boolean {
    return this.#operation.parameters.some((parameter) => parameter.in === 'query');
  }

  get takesPath(): boolean {
    return this.#operation.parameters.some((parameter) => parameter.in === 'path');
  }

  /** Where it is called, as it should be. */
  get sound(): string {
    return this.#withRequired(this.#url(first));
  }

  #withRequired(url: string): string {
    const required = this.#operation.parameters.filter((each) => each.in === 'query' && each.required === true);
    const query = new URLSearchParams();
    for (const { name, schema } of required) query.set(name, String(JSON.parse(this.#text(first, schema, 0, name))));
    return query.size === 0 ? url : `${url}?${query.toString()}`;
  }

  /** The same with a body, where it takes one. */
  get soundCall(): Omit<MalformedCall, 'kind'> {
    return { url: this.sound, ...this.#soundBody(() => 0) };
  }

  /** The same, also of what a removal names: what is there. */
  get boldCall(): Omit<MalformedCall, 'kind'> {
    return { url: this.#withRequired(this.#url(first, () => null, true)), ...this.#soundBody(first) };
  }

  /** Whether other names of parameters are refused. */
  get takesNoOthers(): boolean {
    const { parameters, isPublic, responses } = this.#operation;
    const others = parameters.some((parameter) => parameter.in === 'query' && parameter.schema['type'] === 'object');
    const isLenient = ['200', '201', '202', '204', '207'].some((status) => 'headers' in (responses[status] ?? {}));
    return !isPublic && !others && !isLenient;
  }

  /** Bodies that have no other fault that counts than an unknown name, each in another object, with where it stands. */
  get unknownNames(): { readonly body: unknown; readonly pointer: string }[] {
    return this.#schema === null ? [] : this.#closedObjects(this.#schema).map(withUnknownName);
  }

  /** Paths to objects whose names are all known. */
  #closedObjects(schema: Schema): (string | number)[][] {
    const { anyOf, items, properties = {}, additionalProperties } = this.#scene.document.resolve(schema);
    const below = (name: string | number, part: Schema) => this.#closedObjects(part).map((path) => [name, ...path]);
    return [
      ...(additionalProperties === false ? [[]] : []),
      ...((anyOf ?? []) as Schema[]).flatMap((branch) => this.#closedObjects(branch)),
      ...(items === undefined ? [] : below(0, items)),
      ...Object.entries<Schema>(properties).flatMap(([name, part]) => below(name, part)),
      ...(typeof additionalProperties === 'object' ? below('a', additionalProperties) : []),
    ];
  }

  withBody(random: Random, seed: number): MalformedCall {
    const ids = [0, 1].map((number) => seededId(seed, number));
    const { body, headers, kind } = this.#body(random, ids);
    return { url: this.#url(random), body, headers, kind, ids: this.takesList ? ids : [] };
  }

  withQuery(random: Random): MalformedCall {
    const names = this.#operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const query = malformedQuery(random, names);
    return { url: `${this.#url(random)}${query}`, kind: 'query', ...this.#soundBody(random) };
  }

  withPath(random: Random): MalformedCall {
    const url = this.#url(random, () => (random() < 0.5 ? malformedPathValue(random) : null));
    return { url, kind: 'path', ...this.#soundBody(random) };
  }

  withHeaders(random: Random): MalformedCall {
    const { body, headers } = this.#soundBody(random);
    const all = { ...headers, ...malformedHeaders(random) };
    return { url: this.#url(random), kind: 'headers', headers: all, ...(body === undefined ? {} : { body }) };
  }

  /** The path, each parameter in it being one that is there, or what is given instead. */
  #url(random: Random, instead: () => string | null = () => null, removes = false): string {
    const { path, parameters, method } = this.#operation;
    const last = parameters.findLast((parameter) => parameter.in === 'path')?.name;
    return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      // What is deleted is not what the next call needs.
      if (method === 'DELETE' && name === last && !removes) return instead() ?? randomUUID();
      const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
      const sound = String(JSON.parse(this.#text(random, schema, 0, name)));
      // An empty segment would make it another path.
      return instead() ?? encodeURIComponent(sound === '' ? 'x' : sound);
    });
  }

  #text(random: Random, schema: Schema, odd: number, name = ''): string {
    const { document, known } = this.#scene;
    return valueText(schema, { random, document, known, odd }, name);
  }

  #soundBody(random: Random): { readonly body?: string; readonly headers?: Record<string, string> } {
    const schema = this.#schema;
    if (schema === null) return {};
    return { body: this.#text(random, schema, 0), headers: { 'content-type': 'application/json' } };
  }

  #body(random: Random, ids: readonly string[]): MalformedBody {
    const schema = this.#schema ?? {};
    const element = this.takesList ? (schema['items'] as Schema) : schema;
    const { properties = {} } = this.#scene.document.resolve(element);
    const objects = Object.entries<Schema>(properties)
      .filter(([, member]) => JSON.stringify(member).includes('"object"'))
      .map(([name]) => name);
    const sound = (id: string | undefined) => {
      const made = JSON.parse(this.#text(random, element, 0)) as Row;
      return this.takesList ? { ...made, id } : made;
    };
    const beside = JSON.stringify(sound(ids[1]));
    const place = (text: string) => (this.takesList ? `[${beside},${text}]` : text);
    const headers = { 'content-type': 'application/json' };
    if (!this.takesList && random() < 0.6)
      return {
        body: this.#text(random, schema, pick(random, [0, 0.05, 0.2])),
        headers,
        kind: 'values that do not fit',
      };
    const changed = malformedBody(random, {
      element: sound(ids[0]),
      objects: objects.length === 0 ? ['metadata'] : objects,
      place,
    });
    return random() < 0.85 ? changed : badlyPackedBody(random, changed);
  }
}

function withUnknownName(path: readonly (string | number)[]): { readonly body: unknown; readonly pointer: string } {
  const body = path.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), {
    zyx: 1,
  });
  return { body, pointer: `/${[...path, 'zyx'].join('/')}` };
}

/** Ids that lie far apart: a byte changed in one must not make it another. */
function seededId(...of: number[]): string {
  const hash = createHash('sha256').update(of.join(' ')).digest('hex');
  return `c${hash.slice(1, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
