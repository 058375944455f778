import { endOfString, parseJsonText } from '../../engine/json-text.js';
import { isJsonObject } from '../../engine/json-object.js';
import { asContent, looksLikeJson } from './json-strings.js';
import type { Paths, Places } from './paths.js';

/** JSON in strings of JSON in strings… is gone through so deep. */
const MAX_NESTED = 4;

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

  constructor(paths: Paths, replacement: ValueReplacement) {
    this.#paths = paths;
    this.#replacement = replacement;
  }

  /** Masks what lies in a field. @param keeps whether no path may change a member of it, or of one of its members */
  field(name: string, value: unknown, keeps: Keeps | null = null): unknown {
    return this.#member(this.#paths.start, name, value, { keeps, parent: null });
  }

  #member(places: Places, key: string | number, value: unknown, within: Within): unknown {
    const { places: after, ends } = this.#paths.next(places, key);
    if (ends !== null && value !== null && value !== undefined) {
      const replaced = this.#replacement(ends, value);
      if (replaced !== undefined) return replaced;
    }
    return after.size === 0 ? value : this.#value(after, value, within);
  }

  #value(places: Places, value: unknown, { keeps, parent }: Within): unknown {
    if (typeof value === 'string') return this.#text(places, value, 0);
    if (Array.isArray(value)) {
      let changed: unknown[] | null = null;
      for (const [index, element] of value.entries()) {
        const masked = this.#member(places, index, element, BELOW);
        if (masked !== element) (changed ??= [...(value as unknown[])])[index] = masked;
      }
      return changed ?? value;
    }
    if (!isJsonObject(value)) return value;
    let changed: Record<string, unknown> | null = null;
    for (const name in value) {
      if (keeps?.(parent, name, value[name]) === true) continue;
      const within = parent === null && keeps !== null ? { keeps, parent: name } : BELOW;
      const masked = this.#member(places, name, value[name], within);
      if (masked !== value[name]) (changed ??= copied(value))[name] = masked;
    }
    return changed ?? value;
  }

  /** Goes on in a text that is JSON. */
  #text(places: Places, text: string, nested: number): string {
    if (nested >= MAX_NESTED || !looksLikeJson(text) || !isReadable(text)) return text;
    const edits: Edit[] = [];
    this.#scan({ text, at: 0, places, nested, edits });
    if (edits.length === 0) return text;
    let [from, masked] = [0, ''];
    for (const edit of edits) {
      masked += text.slice(from, edit.start) + edit.text;
      from = edit.end;
    }
    return masked + text.slice(from);
  }

  /** Goes through a value of JSON that is known to be right. @returns where it ends */
  #scan({ text, at, places, nested, edits }: Scanned): number {
    const start = skipSpace(text, at);
    const first = text.charAt(start);
    if (first === '"') {
      const end = endOfString(text, start + 1);
      const raw = text.slice(start + 1, end);
      const value = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
      const masked = places.size === 0 ? value : this.#text(places, value, nested + 1);
      if (masked !== value) edits.push({ start: start + 1, end, text: asContent(masked) });
      return end + 1;
    }
    if (first === '{' || first === '[') return this.#scanMembers({ text, at: start, places, nested, edits });
    let end = start;
    while (end < text.length && !',]}'.includes(text.charAt(end)) && !isSpace(text.charCodeAt(end))) end += 1;
    return end;
  }

  #scanMembers({ text, at: start, places, nested, edits }: Scanned): number {
    const isObject = text.charAt(start) === '{';
    let at = skipSpace(text, start + 1);
    for (let index = 0; !'}]'.includes(text.charAt(at)); index += 1) {
      let key: string | number = index;
      if (isObject) {
        const end = endOfString(text, at + 1);
        key = JSON.parse(text.slice(at, end + 1)) as string;
        at = skipSpace(text, skipSpace(text, end + 1) + 1);
      }
      at = this.#scanMember({ text, at, places, nested, edits }, key);
      at = skipSpace(text, at);
      if (text.charAt(at) === ',') at = skipSpace(text, at + 1);
    }
    return at + 1;
  }

  #scanMember({ text, at, places, nested, edits }: Scanned, key: string | number): number {
    const { places: after, ends } = this.#paths.next(places, key);
    const own: Edit[] = [];
    const end = this.#scan({ text, at, places: after, nested, edits: own });
    const replaced = ends === null ? undefined : this.#replaced(ends, text.slice(at, end));
    if (replaced !== undefined) edits.push({ start: at, end, text: JSON.stringify(replaced) });
    else for (const edit of own) edits.push(edit);
    return end;
  }

  #replaced(path: number, json: string): string | null | undefined {
    const value = JSON.parse(json) as unknown;
    return value === null ? undefined : this.#replacement(path, value);
  }
}

interface Scanned {
  readonly text: string;
  readonly at: number;
  readonly places: Places;
  readonly nested: number;
  readonly edits: Edit[];
}

/** Whether no path may change an attribute. @param parent the attribute that it is a member of; null: it is none */
type Keeps = (parent: string | null, name: string, value: unknown) => boolean;

interface Within {
  readonly keeps: Keeps | null;
  readonly parent: string | null;
}

const BELOW: Within = { keeps: null, parent: null };

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
