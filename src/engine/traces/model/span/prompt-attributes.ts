/*
 * Where a span names its prompt: clients do so in its attributes, under several names and either as an object `zeroeval` or,
 * as OpenTelemetry does, with dotted names.
 */

type Attributes = Readonly<Record<string, unknown>>;

/** A place in attributes: the name, and the name of the object it lies in, if any. */
export interface AttributePath {
  readonly parent: string | null;
  readonly name: string;
}

const VENDOR = 'zeroeval';
const plain = (name: string): AttributePath => ({ parent: null, name });
const ofVendor = (name: string): AttributePath[] => [{ parent: VENDOR, name }, plain(`${VENDOR}.${name}`)];

/** Attributes that may hold the slug or the id of a prompt. */
export const PROMPT_PATHS: readonly AttributePath[] = [
  ...ofVendor('prompt_slug'),
  ...ofVendor('task'),
  plain('task'),
  plain('prompt_slug'),
];

/** Attributes that may hold the id of one of a prompt's versions. */
export const VERSION_PATHS: readonly AttributePath[] = [...ofVendor('prompt_version_id'), plain('prompt_version_id')];

/** Attributes that may hold the number of a prompt's version. */
export const VERSION_NUMBER_PATHS: readonly AttributePath[] = [...ofVendor('prompt_version'), plain('prompt_version')];

/** All texts at some places. */
export function textsAt(attributes: Attributes, paths: readonly AttributePath[]): string[] {
  return paths.flatMap((path) => {
    const found = valueAt(attributes, path);
    return typeof found === 'string' ? [found] : [];
  });
}

/** The first text at some places that is accepted. */
export function firstTextAt(
  attributes: Attributes,
  paths: readonly AttributePath[],
  accepts: (text: string) => boolean,
): string | undefined {
  for (const path of paths) {
    const found = valueAt(attributes, path);
    if (typeof found === 'string' && accepts(found)) return found;
  }
  return undefined;
}

/** The first whole number from 1 at some places, as a number or as its digits. */
export function numberAt(attributes: Attributes, paths: readonly AttributePath[]): number | null {
  for (const path of paths) {
    const found = valueAt(attributes, path);
    const number = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number;
  }
  return null;
}

function valueAt(attributes: Attributes, { parent, name }: AttributePath): unknown {
  const holder = parent === null ? attributes : attributes[parent];
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined;
  return (holder as Attributes)[name];
}
