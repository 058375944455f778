import type { ErrorObject } from './json-schema.js';

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const FORMAT_NAMES: Readonly<Record<string, string>> = { uuid: 'a UUID' };

/** The rule that a value breaks, from ajv's errors for it: one sentence that begins with a verb. */
export function describe(errors: readonly ErrorObject[]): string {
  const branches = errors.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'oneOf');
  const types = branches.filter(({ keyword }) => keyword === 'type');
  if (types.length > 0 && types.length === branches.length) return `must be ${oneOf(types.flatMap(typeNames))}`;
  const constants = branches.filter(({ keyword }) => keyword === 'const');
  if (constants.length > 1)
    return `must be one of ${constants.map(({ params }) => shown(params['allowedValue'])).join(', ')}`;
  // The branch that the sender meant is the one whose type fits.
  const meant = branches.find(({ keyword }) => keyword !== 'type') ?? errors[0];
  return meant === undefined ? 'is invalid' : describeOne(meant);
}

function describeOne(error: ErrorObject): string {
  const words = (error.parentSchema as Record<string, unknown> | undefined)?.['x-must'];
  if (typeof words === 'string' && error.keyword !== 'type') return `must ${words}`;
  const params = error.params as Record<string, unknown>;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'type':
      return `must be ${oneOf(typeNames(error))}`;
    case 'format':
      return `must be ${FORMAT_NAMES[String(params['format'])] ?? `a ${String(params['format'])}`}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(shown).join(', ')}`;
    case 'const':
      return `must be ${shown(params['allowedValue'])}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'pattern':
      return `must match ${String(params['pattern'])}`;
    case 'required':
      return `must have ${shown(params['missingProperty'])}`;
    default:
      return error.message ?? 'is invalid';
  }
}

function typeNames(error: ErrorObject): string[] {
  const type = error.params['type'] as string | readonly string[];
  const names = typeof type === 'string' ? type.split(',') : type;
  return names.map((name) => TYPE_NAMES[name] ?? name);
}

function oneOf(names: readonly string[]): string {
  const unique = [...new Set(names)];
  const last = unique.pop() ?? '';
  return unique.length === 0 ? last : `${unique.join(', ')} or ${last}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
