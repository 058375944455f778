import { DomainError } from '../engine/errors.js';
import { invalid } from '../engine/validation/validation.js';

/** Does some work whose issues name values as the client sent them. @param nameOf what the client calls a value, by its pointer */
export async function inSentNames<T>(work: () => T | Promise<T>, nameOf: (pointer: string) => string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.issues.length === 0) throw error;
    throw invalid(error.issues.map(({ pointer, detail }) => ({ pointer: nameOf(pointer), detail })));
  }
}
