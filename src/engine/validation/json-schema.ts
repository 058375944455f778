import type { TSchema } from '@sinclair/typebox';
import { ID } from '../schema/ids.js';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

/** Plain JSON Schema without `$id`: names serve the documentation, and the same part may appear in many schemas. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Validator without `allErrors`, by which ajv makes one object per broken rule, millions for a hostile body. The
 * collector checks part by part instead.
 */
const ajv = new Ajv2020({ allErrors: false, verbose: true, strict: true, strictTypes: false, strictRequired: false });
ajv.addFormat('uuid', ID);
// Annotations for the documentation; their values are never read here.
ajv.addFormat('date-time', true);
ajv.addFormat('binary', true);
ajv.addFormat('double', true);
ajv.addFormat('uri', true);
ajv.addFormat('email', true);
// `x-must` says in words, after "must", what a pattern asks for.
ajv.addVocabulary(['x-must', 'example']);

export function compileCheck(schema: TSchema | JsonSchema): ValidateFunction {
  return ajv.compile(plain(schema));
}

/** A copy without `$id` and without what JSON cannot say. */
export function plain(schema: TSchema | JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$id' && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text) as JsonSchema;
}

export type { ErrorObject };
