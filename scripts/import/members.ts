/** An object of a source, of which nothing is known. */
export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that a value is; an empty one where it is none. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** The objects in a list; none where it is no list. */
export function membersIn(values: unknown): Members[] {
  return Array.isArray(values) ? values.filter(isMembers) : [];
}

/** What a text of JSON says, if it is one of an object or a list; any other value as it is. */
export function unfolded(value: unknown): unknown {
  const text = textOf(value);
  if (text === null || !/^\s*[[{]/.test(text)) return value;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return value;
  }
}

/** The text that a value is; null: it is none, or empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The number that a value is, from 0 on; 0: it is none. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** In milliseconds; null: it is no time that can be stored. */
export function timeOf(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  return at >= 0 && at < LATEST ? at : null;
}

const LATEST = Date.UTC(2254, 0, 1);

/** The object that a line of JSON is; null: it is none. */
export function objectIn(bytes: Buffer): Members | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}

/** The first characters of a text, in one line. */
export function shortened(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
}
