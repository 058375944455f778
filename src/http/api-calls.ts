import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../engine/files/schema-files.js';

/* The calls of the API, as its OpenAPI document describes them: commands and tools are made of it. */

/** A JSON Schema, as far as it is looked into. */
export interface ApiSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly anyOf?: readonly ApiSchema[];
  readonly items?: ApiSchema;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly [keyword: string]: unknown;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  /** An array: of several values. An object: values by names that the parameter's own name and a dot begin. */
  readonly schema: ApiSchema;
}

export interface ApiCall {
  /** The `operationId`. */
  readonly id: string;
  readonly method: string;
  /** Such as `/traces/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly ApiParameter[];
  readonly body?: ApiSchema;
  /** Media type of what it answers. */
  readonly answers: string;
}

/** What a call is asked for: texts of its path by name, and its query. */
export interface AskedCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Most bytes of an answer that is held whole for a tool. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Where `npm run generate` writes them. */
export const API_CALLS_FILE = 'schema/calls.json';

/** What the file holds. Many calls have the same parameters, which are written once, and named by their places. */
export interface ApiCallsFile {
  readonly parameters: readonly ApiParameter[];
  readonly calls: readonly (Omit<ApiCall, 'parameters'> & { readonly parameters: readonly number[] })[];
}

let read: ReadonlyMap<string, ApiCall> | undefined;

/** All calls by id. */
export function apiCalls(): ReadonlyMap<string, ApiCall> {
  if (read === undefined) {
    const { parameters, calls } = JSON.parse(readFileSync(join(packageRoot(), API_CALLS_FILE), 'utf8')) as ApiCallsFile;
    const known = (places: readonly number[]) => places.flatMap((place) => parameters[place] ?? []);
    read = new Map(calls.map((call) => [call.id, { ...call, parameters: known(call.parameters) }]));
  }
  return read;
}

/** The call with an id, which must be there. */
export function apiCall(id: string): ApiCall {
  const call = apiCalls().get(id);
  if (call === undefined) throw new Error(`${API_CALLS_FILE} has no ${id}: run npm run generate`);
  return call;
}

/** What is asked by values of parameters, by their names. Those that are null or undefined are left out. */
export function askedOf({ parameters }: ApiCall, values: Readonly<Record<string, unknown>>): AskedCall {
  const params: Record<string, string> = {};
  const query = new URLSearchParams();
  for (const { name, in: place, schema } of parameters) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    if (place === 'path') params[name] = textOf(value);
    else if (schema.type === 'object') {
      for (const [key, texts] of Object.entries(value))
        for (const text of [texts].flat()) query.append(`${name}.${key}`, textOf(text));
    } else if (Array.isArray(value)) appendAll(query, name, value);
    else query.append(name, textOf(value));
  }
  return { params, query };
}

/** One value is read as a list with commas, several are each taken as they are. */
function appendAll(query: URLSearchParams, name: string, values: readonly unknown[]): void {
  for (const value of values) query.append(name, textOf(value));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The path and query of a request. @throws Error for a path that lacks a value */
export function targetOf({ path }: ApiCall, { params, query }: AskedCall): string {
  const written = path.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${path} lacks ${name}`);
    return encodeURIComponent(value);
  });
  return query.size === 0 ? written : `${written}?${query.toString()}`;
}
