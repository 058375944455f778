import type { Static, TObject } from '@sinclair/typebox';
import { DomainError, MAX_ISSUES, type Issue } from '../../domain/errors.js';
import { invalid, compile, type Validator } from '../../domain/validation/validation.js';

/** How a route takes its query: the schema documents it, `parse` reads it. */
export interface QueryDefinition<Q> {
  readonly schema: TObject;
  /** Parameters of any name beside those of the schema (tag filters); for the documentation. */
  readonly anyOther?: { readonly name: string; readonly description: string };
  /** @throws DomainError `invalid` with pointers `?name` */
  parse(search: URLSearchParams): Q;
}

/** A query read by its schema: strings become what the schema says, unknown parameters are left out. */
export function queryOf<S extends TObject>(schema: S): QueryDefinition<Static<S>> {
  const coerce = coercerOf(schema, (name) => `?${name}`);
  return { schema, parse: (search) => coerce((name) => search.getAll(name)) };
}

/** Path parameters read by their schema, with pointers `{name}`. */
export function pathParametersOf<S extends TObject>(
  schema: S,
): (values: Readonly<Record<string, string>>) => Static<S> {
  const coerce = coercerOf(schema, (name) => `{${name}}`);
  return (values) => coerce((name) => (values[name] === undefined ? [] : [values[name]]));
}

/** The raw query of a URL. @throws DomainError `malformed` for bad percent-encoding, which would otherwise change the text. */
export function searchOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  const text = start === -1 ? '' : url.slice(start + 1);
  if (text.includes('%')) {
    try {
      decodeURIComponent(text);
    } catch (error) {
      throw new DomainError('malformed', 'The query is not valid percent-encoded UTF-8', { cause: error });
    }
  }
  return new URLSearchParams(text);
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly lowerCase: boolean;
  readonly required: boolean;
  readonly fallback: unknown;
  readonly validator: Validator<unknown>;
}

function coercerOf<S extends TObject>(schema: S, pointer: (name: string) => string) {
  const required = new Set<string>(schema.required ?? []);
  const parameters = Object.entries(schema.properties).map(([name, property]): Parameter => ({
    name,
    type: typeof property['type'] === 'string' ? property['type'] : 'string',
    // Ids are taken in either case and are lower case from here on.
    lowerCase: property['format'] === 'uuid',
    required: required.has(name),
    fallback: property.default as unknown,
    validator: compile(property),
  }));
  return (valuesOf: (name: string) => string[]): Static<S> => {
    const result: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const parameter of parameters) {
      const given = valuesOf(parameter.name);
      const where = pointer(parameter.name);
      if (given.length === 0) {
        if (parameter.fallback !== undefined) result[parameter.name] = parameter.fallback;
        else if (parameter.required) issues.push({ pointer: where, detail: 'is required' });
      } else if (given.length > 1 && parameter.type !== 'array') {
        issues.push({ pointer: where, detail: 'must be given once' });
      } else {
        const value = parameter.type === 'array' ? given : coerceText(given[0] ?? '', parameter);
        const found = parameter.validator.issues(value, where);
        issues.push(...found);
        result[parameter.name] = value;
      }
    }
    if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES));
    return result;
  };
}

/** Text that is not of the type stays as it is, for the validator to complain about. */
function coerceText(text: string, { type, lowerCase }: Parameter): unknown {
  switch (type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return lowerCase ? text.toLowerCase() : text;
  }
}
