import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { DomainError, MAX_ISSUES, type Issue } from '../engine/errors.js';
import { shortened } from '../engine/validation/collector.js';
import { nearName } from '../engine/validation/near-name.js';
import { invalid as brokenRules } from '../engine/validation/validation.js';
import { isRest, mistakenNames, parameterReader, restReader, type ParameterReader } from './parameter.js';

/** How a route takes its query: the schema by which `parse` reads is the one that the documentation shows. */
export interface QueryDefinition<Q, Sent = unknown> {
  /** What clients send. Only its type counts. */
  readonly sent?: Sent;
  readonly schema: TObject;
  /** @param found what else is wrong with the request @throws DomainError `invalid` with pointers `?name` */
  parse(search: URLSearchParams, found?: readonly Issue[]): Q;
}

interface QueryOptions<V, Q> {
  /** Finds rules broken by several parameters together; gets only values that are valid by themselves. */
  check?(values: Partial<V>): Issue[];
  /** Converts the values to what the route works with; default: the values themselves. */
  to(values: V): Q;
}

/** A query read by its schema. Parameters that it does not name are left out, unless one stands for the rest. */
export function queryOf<S extends TObject>(schema: S): QueryDefinition<Static<S>, Partial<Static<S>>>;
export function queryOf<S extends TObject, Q>(
  schema: S,
  options: QueryOptions<Static<S>, Q>,
): QueryDefinition<Q, Partial<Static<S>>>;
export function queryOf<S extends TObject>(
  schema: S,
  { check, to }: QueryOptions<Static<S>, unknown> = { to: (values) => values },
): QueryDefinition<unknown> {
  const read = readerOf(schema, (name) => `?${name}`);
  return {
    schema,
    parse(search, found = []) {
      const { values, issues } = read(textsOf(search));
      issues.unshift(...found);
      issues.push(...(check?.(values) ?? []));
      if (issues.length > 0) throw invalid(issues);
      return to(values);
    },
  };
}

/** Names of query parameters that the schema does not describe; without a schema, all of them. */
export function unknownParameters(schema: TObject | undefined, search: URLSearchParams): string[] {
  const properties = Object.entries(schema?.properties ?? {});
  if (search.size === 0 || properties.some(([, property]) => isRest(property))) return [];
  const known = new Set(properties.map(([name]) => name));
  return [...new Set(search.keys())].filter((name) => !known.has(name));
}

/** Says of unknown parameters which are known. */
export function unknownParameterIssues(schema: TObject | undefined, names: readonly string[]): Issue[] {
  const known = Object.keys(schema?.properties ?? {});
  const all = known.length === 0 ? 'this call has no parameters' : `supported: ${known.join(', ')}`;
  return names.slice(0, MAX_ISSUES).map((name) => {
    const near = nearName(name, known);
    const hint = near === null ? all : `did you mean ${near}?`;
    return { pointer: `?${shortened(name)}`, detail: `is unknown; ${hint}` };
  });
}

/** A query of a call that takes no parameters. */
export function parseNothing(_search: URLSearchParams, found: readonly Issue[]): undefined {
  if (found.length > 0) throw invalid(found);
}

/** Texts of path parameters by name; one that takes slashes is an array of what is between them. */
export type PathValues = Readonly<Record<string, string | readonly string[]>>;

/** Path parameters read by their schema. Broken rules are added to those found, with pointers `{name}`. */
export function pathParametersOf<S extends TObject>(schema: S): (values: PathValues, found: Issue[]) => Static<S> {
  const read = readerOf(schema, (name) => `{${name}}`);
  return (given, found) => {
    const texts = Object.entries(given).map(([name, text]) => [name, [[text].flat().join('/')]] as const);
    const { values, issues } = read(new Map(texts));
    found.push(...issues);
    return values;
  };
}

/**
 * What the call answers. A rule that it finds broken at one of the pointers is said to be broken by the path parameter, which
 * is where a client gave the value.
 * @param names path parameters by their pointers
 */
export async function asPathParameters<T>(names: Readonly<Record<string, string>>, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
    throw brokenRules(
      error.issues.map((issue) => {
        const name = names[issue.pointer];
        return name === undefined ? issue : { ...issue, pointer: `{${name}}` };
      }),
    );
  }
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

/** The texts given by each name. */
type Given = ReadonlyMap<string, readonly string[]>;

function textsOf(search: URLSearchParams): Given {
  const given = new Map<string, string[]>();
  for (const [name, text] of search) {
    const texts = given.get(name);
    if (texts) texts.push(text);
    else given.set(name, [text]);
  }
  return given;
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly fallback: unknown;
  readonly read: ParameterReader;
}

/** Reads what it can; what it cannot is among the issues. */
function readerOf<S extends TObject>(schema: S, pointer: (name: string) => string) {
  const properties = Object.entries(schema.properties);
  const rests = restsOf(properties);
  const required = new Set<string>(schema.required ?? []);
  const parameters = new Map(
    properties
      .filter(([, property]) => !isRest(property))
      .map(([name, property]): [string, Parameter] => [
        name,
        { name, required: required.has(name), fallback: property.default, read: parameterReader(property) },
      ]),
  );
  return (given: Given): { values: Partial<Static<S>>; issues: Issue[] } => {
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    const take = (name: string, reading: ReturnType<ParameterReader>) => {
      if ('rule' in reading) issues.push({ pointer: pointer(name), detail: reading.rule });
      else values[name] = reading.value;
    };
    for (const { name, required, fallback, read } of parameters.values()) {
      const texts = given.get(name);
      if (texts !== undefined) take(name, read(texts));
      else if (fallback !== undefined) values[name] = fallback;
      else if (required) issues.push({ pointer: pointer(name), detail: 'is required' });
    }
    let others = [...given].filter(([name]) => !parameters.has(name));
    for (const { name: rest, prefix, read, mistaken } of rests) {
      const own = others.filter(([name]) => name.startsWith(prefix));
      others = others.filter(([name]) => !name.startsWith(prefix));
      for (const [name] of own) {
        const rule = mistaken.get(name);
        if (rule !== undefined) issues.push({ pointer: pointer(name), detail: rule });
      }
      take(rest, read(own));
    }
    return { values, issues };
  };
}

/** What stands for other parameters, those with a longer prefix first, and the names that none of these may have. */
function restsOf(properties: readonly (readonly [string, TSchema])[]) {
  const rests = properties.filter(([, property]) => isRest(property));
  return rests
    .map(([name, property]) => ({ name, ...restReader(property), mistaken: mistakenNames(property) }))
    .sort((one, other) => other.prefix.length - one.prefix.length);
}

function invalid(issues: readonly Issue[]): DomainError {
  const [first] = issues;
  const detail =
    issues.length === 1 && first !== undefined
      ? `${first.pointer} ${first.detail}`
      : `${issues.length} parameters are invalid`;
  return new DomainError('invalid', detail, { issues });
}
