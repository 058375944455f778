import { MAX_ISSUES, type Issue } from '../errors.js';
import { invalid, type Validator } from '../validation/validation.js';
import { Normaliser } from '../schema/normalise.js';

/**
 * Reads an array of elements that stand or fall together.
 * @throws DomainError `invalid` with all issues found (at most 100); then nothing of the request may be stored.
 */
export function readElements<I, O>(
  body: unknown,
  validator: Validator<I>,
  normalise: (input: I, normaliser: Normaliser) => O,
): O[] {
  if (!Array.isArray(body)) throw invalid([{ pointer: '', detail: 'must be an array' }]);
  const issues: Issue[] = [];
  const elements: O[] = [];
  for (let index = 0; index < body.length && issues.length < MAX_ISSUES; index += 1) {
    const element: unknown = body[index];
    const pointer = `/${index}`;
    if (validator.accepts(element)) elements.push(normalise(element, new Normaliser(pointer, issues)));
    else issues.push(...validator.issues(element, pointer, MAX_ISSUES - issues.length));
  }
  if (issues.length > 0) throw invalid(issues);
  return elements;
}
