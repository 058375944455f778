import { readFile } from 'node:fs/promises';
import type { ComparisonInput } from '../../src/features/comparisons/schema.js';
import { CiError } from './ci-error.js';

/** What a file of rules says: the body of a comparison without its experiments. */
export type Rules = Omit<ComparisonInput, 'candidate' | 'baseline' | 'wait_seconds'>;

/** Reads a file of rules; what the rules may be, the server checks. @throws CiError */
export async function readRules(file: string): Promise<Rules> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CiError(`The rules cannot be read: ${(error as Error).message}`);
  });
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch (error) {
    throw new CiError(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (Array.isArray(rules)) return { metrics: rules as Rules['metrics'] };
  if (typeof rules !== 'object' || rules === null)
    throw new CiError(`${file} must have an object, such as {"metrics": []}`);
  return rules as Rules;
}
