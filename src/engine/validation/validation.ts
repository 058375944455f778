import type { Static, TSchema } from '@sinclair/typebox';
import { DomainError, MAX_ISSUES, type Issue } from '../errors.js';
import { closed } from './closed.js';
import { createCollector } from './collector.js';
import { compileCheck } from './json-schema.js';

/** A JSON Schema, compiled when it is first needed: that takes milliseconds, and a server has hundreds it may never need. */
export interface Validator<T> {
  /** Whether the value fits; the fast path, which stops at the first broken rule. */
  accepts(value: unknown): value is T;
  /**
   * The broken rules, at most `limit`, which bounds work and memory, too, however many rules a hostile value breaks.
   * @param pointer where `value` sits in the whole, such as `/17`
   */
  issues(value: unknown, pointer?: string, limit?: number): Issue[];
}

/** A validator that refuses names which the schema does not describe, at any depth. */
export function compileClosed<S extends TSchema>(schema: S): Validator<Static<S>> {
  return compile(closed(schema));
}

/** Schemas are written once, and servers of one process share what was compiled of them. */
const known = new WeakMap<TSchema, Validator<unknown>>();

export function compile<S extends TSchema>(schema: S): Validator<Static<S>> {
  const validator = known.get(schema) ?? validatorOf(schema);
  known.set(schema, validator);
  return validator;
}

function validatorOf<S extends TSchema>(schema: S): Validator<Static<S>> {
  let check: ReturnType<typeof compileCheck> | undefined;
  let collector: ReturnType<typeof createCollector> | undefined;
  const accepts = (value: unknown): value is Static<S> => (check ??= compileCheck(schema))(value);
  return {
    accepts,
    issues(value, pointer = '', limit = MAX_ISSUES) {
      if (accepts(value)) return [];
      collector ??= createCollector(schema);
      return collector(value, pointer, limit);
    },
  };
}

/**
 * The value, when it fits the schema.
 * @throws DomainError `invalid` with every issue found (at most 100)
 */
export function assertValid<T>(validator: Validator<T>, value: unknown): T {
  const issues = validator.issues(value);
  if (issues.length > 0) throw invalid(issues);
  return value as T;
}

/** Error that says that input breaks rules. */
export function invalid(issues: readonly Issue[]): DomainError {
  const [first] = issues;
  const detail =
    issues.length === 1 && first !== undefined
      ? `${first.pointer === '' ? 'The body' : first.pointer} ${first.detail}`
      : `${issues.length} validation errors; nothing was stored`;
  return new DomainError('invalid', detail, { issues });
}
