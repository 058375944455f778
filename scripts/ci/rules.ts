import { readFile } from 'node:fs/promises';
import type { ComparisonInput } from '../../src/features/comparisons/input-schema.js';
import type { RunInput } from '../../src/features/experiment-runs/schema.js';
import { CiError } from './ci-error.js';

/** What options of the command say of a run. */
const BY_OPTIONS = [
  'dataset',
  'dataset_version',
  'prompt_slug',
  'prompt_version',
  'prompt_tag',
  'repetitions',
  'name',
  'tags',
  'dry_run',
] as const;

/** What a file of rules says. */
export interface Rules {
  /** The body of a comparison without its experiments. */
  readonly comparison: Omit<ComparisonInput, 'candidate' | 'baseline' | 'wait_seconds'>;
  /** How the server runs a prompt: the body of a run without what options say. */
  readonly run: Omit<RunInput, (typeof BY_OPTIONS)[number]>;
}

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
  if (Array.isArray(rules)) rules = { metrics: rules as unknown[] };
  if (!isObject(rules) || !Array.isArray(rules['metrics']))
    throw new CiError(`${file} must have an object with metrics, such as {"metrics": []}`);
  const { run = {}, ...comparison } = rules;
  if (!isObject(run)) throw new CiError(`${file}: run must be an object, such as {"model": "gpt-4o-mini"}`);
  const twice = BY_OPTIONS.find((name) => Object.hasOwn(run, name));
  if (twice !== undefined) throw new CiError(`${file}: run must not have ${twice}: the command sets it`);
  return { comparison: comparison as unknown as Rules['comparison'], run };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
