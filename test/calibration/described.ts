import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { TestResponse } from '../http/harness.js';

// The document is looked into; a wrong guess at its shape fails an assertion.
type Json = any;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Checks answers against an OpenAPI document. */
export class Described {
  readonly #document: Json;
  readonly #ajv = new Ajv2020({ strict: false, formats: { uuid: UUID, 'date-time': TIME } });
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #routes: readonly { readonly template: string; readonly pattern: RegExp }[];

  constructor(document: Json) {
    this.#document = document;
    const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length);
    this.#routes = templates.map((template) => ({
      template,
      pattern: new RegExp(`^${template.replaceAll(/[.:]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/:]+')}$`),
    }));
  }

  /** @throws AssertionError when the document does not describe such an answer */
  check(method: string, path: string, response: TestResponse): void {
    const plain = path.split('?', 1)[0] ?? '';
    const template = this.#routes.find(({ pattern }) => pattern.test(plain))?.template;
    expect(template, `${path} is not described`).to.not.equal(undefined);
    const key = `${method} ${template} ${response.status}`;
    const found = this.#document.paths[template ?? ''][method.toLowerCase()]?.responses[response.status];
    expect(found, `${key} is not described: ${response.text.slice(0, 300)}`).to.not.equal(undefined);
    const resolved =
      found.$ref === undefined ? found : this.#document.components.responses[found.$ref.split('/').pop()];
    const [content] = Object.values<Json>(resolved.content ?? {});
    if (content === undefined) return;
    const validate =
      this.#compiled.get(key) ?? this.#ajv.compile({ ...content.schema, components: this.#document.components });
    this.#compiled.set(key, validate);
    const valid = validate(response.json);
    expect(valid, `${key}: ${JSON.stringify(validate.errors)} in ${response.text.slice(0, 500)}`).to.equal(true);
  }
}
