import { endOfString, parseJsonText } from '../../engine/json-text.js';
import { isJsonObject } from '../../engine/json-object.js';
import { asContent, looksLikeJson } from './json-strings.js';
import type { Next, Paths, Places } from './paths.js';

/** JSON in strings of JSON in strings… is gone through so deep. */
const MAX_NESTED = 4;
/** Members that are gone through before others may get a turn. */
const MEMBERS_A_TURN = 1_000;

/** What stands for a value, as JSON has it; undefined: the value stays. @param path index of the path that ends at it */
export type ValueReplacement = (path: number, value: unknown) => string | null | undefined;

/** A part of a text, and what stands in its place. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Masks values by where they lie. All else stays to the character. */
export class PathMasker {
  readonly #paths: Paths;
  readonly #replacement: ValueReplacement;
  /** What was looked at since others got a turn, in members. */
  #looked = 0;

  constructor(paths: Paths, replacement: ValueReplacement) {
    this.#paths = paths;
    this.#replacement = replacement;
  }

  /** Masks what lies in a field. Others get turns wherever it yields. @param keeps what no path may change of its members */
  *field(name: string, value: unknown, keeps: Keeps | null = null): Generator<undefined, unknown, undefined> {
    return yield* this.#member(this.#paths.start, name, value, keeps);
  }

  *#member(
    places: Places,
    key: string | number,
    value: unknown,
    keeps: Keeps | null,
  ): Generator<undefined, unknown, undefined> {
    const { places: after, ends } = this.#paths.next(places, key);
    if (ends !== null && value !== null && value !== undefined) {
      const replaced = this.#replacement(ends, value);
      if (replaced !== undefined) return replaced;
    }
    if (after.size === 0) return value;
    if (typeof value === 'string') return yield* this.#text(after, value, 0);
    if (Array.isArray(value)) return yield* this.#elements(after, value);
    return isJsonObject(value) ? yield* this.#members(after, value, keeps) : value;
  }

  *#elements(places: Places, array: readonly unknown[]): Generator<undefined, readonly unknown[], undefined> {
    let changed: unknown[] | null = null;
    for (const [index, element] of array.entries()) {
      if (this.#isTurnOver(1)) yield;
      const masked = yield* this.#member(places, index, element, null);
      if (masked !== element) (changed ??= [...array])[index] = masked;
    }
    return changed ?? array;
  }

  *#members(
    places: Places,
    object: Readonly<Record<string, unknown>>,
    keeps: Keeps | null,
  ): Generator<undefined, Readonly<Record<string, unknown>>, undefined> {
    let changed: Record<string, unknown> | null = null;
    for (const name in object) {
      if (keeps?.has(name, object[name]) === true) continue;
      if (this.#isTurnOver(1)) yield;
      const masked = yield* this.#member(places, name, object[name], keeps?.within(name) ?? null);
      if (masked !== object[name]) (changed ??= copied(object))[name] = masked;
    }
    return changed ?? object;
  }

  /** Goes on in a text that is JSON. */
  *#text(places: Places, text: string, nested: number): Generator<undefined, string, undefined> {
    if (nested >= MAX_NESTED || !looksLikeJson(text) || !isReadable(text)) return text;
    const edits: Edit[] = [];
    const open: Open[] = [];
    let next: Next = { places, ends: null };
    for (let at = 0; ;) {
      if (this.#isTurnOver(1)) yield;
      const start = skipSpace(text, at);
      const first = text.charAt(start);
      const replaced = next.ends === null ? null : this.#replaced(next.ends, text, start);
      if (replaced !== null) edits.push(replaced);
      if (replaced !== null || next.places.size === 0) at = replaced?.end ?? endOfValue(text, start);
      else if (first === '{' || first === '[') {
        open.push({ isObject: first === '{', index: 0, places: next.places });
        at = start + 1;
      } else {
        at = endOfValue(text, start);
        const edit = first === '"' ? yield* this.#inString(text, start, at, next.places, nested) : null;
        if (edit !== null) edits.push(edit);
      }
      const member = nextMember(text, at, open);
      if (member === null) return edited(text, edits);
      next = this.#paths.next(member.places, member.key);
      at = member.at;
    }
  }

  /** Goes on in a string of JSON, which may be JSON itself. */
  *#inString(
    text: string,
    start: number,
    end: number,
    places: Places,
    nested: number,
  ): Generator<undefined, Edit | null, undefined> {
    const value = JSON.parse(text.slice(start, end)) as string;
    const masked = yield* this.#text(places, value, nested + 1);
    return masked === value ? null : { start: start + 1, end: end - 1, text: asContent(masked) };
  }

  /** What stands for the value at a place; null: the value stays. Nothing within is looked at anymore. */
  #replaced(path: number, text: string, start: number): Edit | null {
    const end = endOfValue(text, start);
    const value = JSON.parse(text.slice(start, end)) as unknown;
    const replacement = value === null ? undefined : this.#replacement(path, value);
    this.#looked += (end - start) / 16;
    return replacement === undefined ? null : { start, end, text: JSON.stringify(replacement) };
  }

  /** Counts what was looked at. @returns whether others should get a turn */
  #isTurnOver(looked: number): boolean {
    this.#looked += looked;
    if (this.#looked < MEMBERS_A_TURN) return false;
    this.#looked = 0;
    return true;
  }
}

/** What no path changes of the members of an object. */
export interface Keeps {
  /** Whether a member stays. */
  readonly has: (name: string, value: unknown) => boolean;
  /** What stays of the members of a member. */
  readonly within: (name: string) => Keeps;
}

/** An object or array of a text that is gone through. */
interface Open {
  readonly isObject: boolean;
  /** Of the member that comes next. */
  index: number;
  readonly places: Places;
}

/** The member behind a place of JSON that is known to be right; those that end there are no longer open. @returns null: nothing is open */
function nextMember(text: string, from: number, open: Open[]) {
  let at = skipSpace(text, from);
  for (let within = open.at(-1); within !== undefined; within = open.at(-1)) {
    if (text.charAt(at) === ',') at = skipSpace(text, at + 1);
    if (!'}]'.includes(text.charAt(at))) {
      const { places } = within;
      const index = within.index++;
      if (!within.isObject) return { places, key: index, at };
      const end = endOfString(text, at + 1);
      const key = JSON.parse(text.slice(at, end + 1)) as string;
      return { places, key, at: skipSpace(text, end + 1) + 1 };
    }
    open.pop();
    at = skipSpace(text, at + 1);
  }
  return null;
}

/** Where a value ends, without looking into it. @param start of it, in JSON that is known to be right */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') at = endOfString(text, at + 1);
    else if (char === '{' || char === '[') depth += 1;
    else if (depth > 0 && (char === '}' || char === ']')) depth -= 1;
    else if (depth > 0 || !(',]}'.includes(char) || isSpace(text.charCodeAt(at)))) continue;
    else return at;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function edited(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const edit of edits) {
    parts.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  return parts.join('') + text.slice(from);
}

/** Whether a text is JSON within the bounds of bodies. */
function isReadable(text: string): boolean {
  try {
    parseJsonText(text);
    return true;
  } catch {
    return false;
  }
}

function copied(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Assigned, `__proto__` would be no member; spread, it is.
  return { ...value };
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && isSpace(text.charCodeAt(next))) next += 1;
  return next;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
