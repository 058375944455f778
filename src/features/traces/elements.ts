import type { SpanFlaw } from '../images/intake.js';
import { MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { Normalizer } from '../../engine/schema/normalize.js';
import { fieldsThatFit } from '../../engine/validation/fitting.js';
import type { UnknownNames } from '../../engine/validation/unknown-names.js';
import { invalid, type Validator } from '../../engine/validation/validation.js';
import { keepUnknown, type KnownFields, type WithAttributes } from './unknown-fields.js';

/** How elements of one kind are read. */
export interface ElementReader<I extends WithAttributes, O> {
  readonly validator: Validator<I>;
  readonly known: KnownFields;
  /** Fields that every element must have, with values that break no rule. */
  readonly placeholders: I;
  normalize(input: I, normalizer: Normalizer): O;
}

export interface ReadElements<O> {
  /** One per element of the request. When there are issues, they serve to find further ones, and nothing else. */
  readonly elements: O[];
  readonly issues: Issue[];
}

/**
 * Reads an array of elements that stand or fall together.
 * @param unknown takes names of fields that are not known, which are kept among the attributes
 * @throws DomainError `invalid` when it is no array, or has a hundred issues
 */
export function readElements<I extends WithAttributes, O>(
  body: unknown,
  { validator, known, placeholders, normalize }: ElementReader<I, O>,
  unknown: UnknownNames,
): ReadElements<O> {
  if (!Array.isArray(body)) throw invalid([{ pointer: '', detail: 'must be an array' }]);
  const issues: Issue[] = [];
  const elements: O[] = [];
  for (let index = 0; index < body.length && issues.length < MAX_ISSUES; index += 1) {
    const element: unknown = body[index];
    const pointer = `/${index}`;
    let input: I;
    if (validator.accepts(element)) {
      keepUnknown(element, known, unknown);
      input = element;
    } else {
      const found = validator.issues(element, pointer, MAX_ISSUES - issues.length);
      issues.push(...found);
      // Beyond the limit, fields were not checked.
      if (issues.length >= MAX_ISSUES) break;
      input = { ...placeholders, ...fieldsThatFit(element, pointer, found) };
    }
    elements.push(normalize(input, new Normalizer(pointer, issues)));
  }
  if (issues.length >= MAX_ISSUES) throw invalid(issues);
  return { elements, issues };
}

/** @throws DomainError `invalid` when there are issues: the elements of a request stand or fall together */
export function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(issues);
}

/** Flaws of elements as issues of their request. */
export function issuesOf(flaws: readonly SpanFlaw[]): Issue[] {
  return flaws.flatMap(({ index, issues }) =>
    issues.map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail })),
  );
}
