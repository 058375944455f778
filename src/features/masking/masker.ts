import { createHmac } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject } from '../../engine/json-object.js';
import { sortedJson } from '../../engine/json-text.js';
import { isKept, keptWithin, KEPT_TAGS } from './kept-attributes.js';
import { PathMasker, type Keeps } from './path-masker.js';
import { Paths, readPath } from './paths.js';
import { textRuleOf } from './patterns/patterns.js';
import type { KeptRules, MaskingRule } from './rule.js';
import { finish, NO_TEXT, TextMasker, type MaskingObserver } from './text-masker.js';

const TEXTS = [
  ...(['name', 'session_name', 'input_data', 'output_data'] as const),
  ...(['error_code', 'error_message', 'error_stack', 'code_filepath'] as const),
] as const;
const TAGS = ['tags', 'trace_tags', 'session_tags'] as const;
/** Fields of spans in which something may be masked. */
export const MASKED_FIELDS = [...TEXTS, ...TAGS, 'attributes'] as const;
const PATH_FIELDS = ['input_data', 'output_data'] as const;

type Members = Readonly<Record<string, unknown>>;

/** What of a span, trace or session is masked: all of it, or what is said of it. */
export type Maskable = { readonly [T in (typeof TEXTS)[number]]?: string | null } & {
  readonly [T in (typeof TAGS)[number] | 'attributes']?: Members;
};

/** Longest names, as requests may have them. */
const LONGEST: Partial<Record<(typeof TEXTS)[number], number>> = { name: 4_096, session_name: 4_096 };
/** Characters of a hash in a label: 64 bits. */
const HASH_LENGTH = 16;
/** Longest time that spans are masked before other requests get a turn. */
const MAX_TURN_MS = 10;

/** Masks what comes in by the rules of one project. What it is given stays as it is. */
export class Masker {
  readonly version: number;
  readonly #rules: readonly MaskingRule[];
  readonly #key: Buffer;
  readonly #texts: TextMasker;
  /** Null: no rule has a path. */
  readonly #paths: PathMasker | null;
  readonly #observer: MaskingObserver | null;

  /** @param observer called with each value that is found */
  constructor({ version, rules, key }: Omit<KeptRules, 'updated_at'>, observer: MaskingObserver | null = null) {
    this.version = version;
    this.#rules = rules;
    this.#key = key;
    this.#observer = observer;
    const replacement = (rule: number, value: string) => this.#replacement(rule, value) ?? '';
    const found = rules.flatMap((rule, index) => {
      const read = textRuleOf(rule);
      return read === null ? [] : [{ ...read, rule: index }];
    });
    this.#texts = new TextMasker({ rules: found, replacement, labels: labelsOf(rules) }, observer);
    this.#paths = this.#openPaths();
  }

  #openPaths(): PathMasker | null {
    const read = this.#rules.flatMap(({ path }, rule) => {
      const steps = path === null ? [] : readPath(path);
      return path === null || typeof steps === 'string' ? [] : [{ rule, steps }];
    });
    if (read.length === 0) return null;
    const labels = labelsOf(this.#rules);
    return new PathMasker(new Paths(read.map(({ steps }) => steps)), (path, value) => {
      const rule = read[path]?.rule ?? 0;
      const text = typeof value === 'string' ? value : sortedJson(value);
      if (labels !== null && text.replace(labels, '') === '' && text !== '') return undefined;
      const replacement = this.#replacement(rule, text);
      this.#observer?.found({ rule, text, start: 0, end: text.length, replacement: replacement ?? '' });
      return replacement;
    });
  }

  /** Masks objects one after another, and gives others their turns. */
  async maskEach<T extends Maskable>(objects: readonly T[]): Promise<T[]> {
    return inTurns(this.#each(objects));
  }

  /** Masks one object at once: a small one. */
  mask<T extends Maskable>(object: T): T {
    return finish(this.#object(object));
  }

  /** Masks a text at once: a short one. */
  maskText<T extends string | null>(text: T, longest = Infinity): T {
    return (text === null ? null : clipped(finish(this.#texts.masked(text)), longest)) as T;
  }

  /** Masks the texts in a value of JSON at once: a small one. */
  maskValue<T>(value: T): T {
    return finish(this.#value(value)) as T;
  }

  /** Masks what people and programs said one after another, and gives others their turns. @param mask has one masked by this */
  async saidEach<T>(said: readonly T[], mask: (one: T) => T): Promise<T[]> {
    return inTurns(
      (function* () {
        const masked: T[] = [];
        for (const one of said) {
          masked.push(mask(one));
          yield;
        }
        return masked;
      })(),
    );
  }

  *#each<T extends Maskable>(objects: readonly T[]): Generator<undefined, T[], undefined> {
    const masked: T[] = [];
    for (const object of objects) {
      masked.push(yield* this.#object(object));
      yield;
    }
    return masked;
  }

  *#object<T extends Maskable>(object: T): Generator<undefined, T, undefined> {
    const placed = this.#paths === null ? object : yield* this.#placed(object, this.#paths);
    const changes: Record<string, unknown> = {};
    for (const field of TEXTS) {
      const text = placed[field];
      if (text === null || text === undefined || text === '') continue;
      this.#observer?.at(field);
      const masked = yield* this.#texts.masked(text);
      if (masked !== text) changes[field] = named(field, clipped(masked, LONGEST[field] ?? Infinity));
    }
    for (const field of TAGS) {
      const tags = placed[field];
      const masked = tags && (yield* this.#tags(tags, field));
      if (masked !== tags) changes[field] = masked;
    }
    const { attributes } = placed;
    const masked = attributes && (yield* this.#members(attributes, ATTRIBUTES, 'attributes'));
    if (masked !== attributes) changes['attributes'] = masked;
    return Object.keys(changes).length === 0 ? placed : { ...placed, ...changes };
  }

  /** What a path of an input or output changes, it changes in attributes that say the same, too: exporters send both. */
  *#placed<T extends Maskable>(object: T, paths: PathMasker): Generator<undefined, T, undefined> {
    const changes: Record<string, unknown> = {};
    const copies = new Map<string, unknown>();
    for (const field of PATH_FIELDS) {
      const text = object[field];
      if (text === null || text === undefined) continue;
      this.#observer?.at(field);
      const masked = yield* paths.field(field, text);
      if (masked === text) continue;
      changes[field] = masked;
      copies.set(text, masked);
    }
    const { attributes } = object;
    if (attributes !== undefined) {
      this.#observer?.at('attributes');
      const placed = yield* paths.field('attributes', withCopies(attributes, copies), ATTRIBUTES);
      if (placed !== attributes) changes['attributes'] = placed;
    }
    return Object.keys(changes).length === 0 ? object : { ...object, ...changes };
  }

  /** @param keeps what stays of its members */
  *#value(value: unknown, keeps: Keeps = NOTHING_KEPT): Generator<undefined, unknown, undefined> {
    if (typeof value === 'string') return yield* this.#texts.masked(value);
    if (Array.isArray(value)) {
      let changed: unknown[] | null = null;
      for (const [index, element] of value.entries()) {
        if (isPlain(element)) continue;
        const masked = yield* this.#value(element);
        if (masked !== element) (changed ??= [...(value as unknown[])])[index] = masked;
      }
      return changed ?? (value as unknown);
    }
    return isJsonObject(value) ? yield* this.#members(value, keeps) : value;
  }

  /** Names that a span is tagged with are keys whose value is `true`: these are masked, too. */
  *#tags(tags: Members, field: string): Generator<undefined, Members, undefined> {
    const values = yield* this.#members(tags, TAGS_KEPT, field);
    const renamed: [string, unknown][] = [];
    const left: [string, unknown][] = [];
    for (const [name, value] of Object.entries(values)) {
      const isName = tags[name] === 'true' && !KEPT_TAGS.has(name);
      if (isName) this.#observer?.at(field);
      const key = isName ? yield* this.#texts.masked(name) : name;
      if (key === name) left.push([name, value]);
      // What is left of a name must not say what the server itself says by tags.
      else renamed.push([key === '' || KEPT_TAGS.has(key) ? NAMELESS : key, value]);
    }
    return renamed.length === 0 ? values : Object.fromEntries([...renamed, ...left]);
  }

  /** Masks the values of an object; its names stay. @param field of the span that the object is */
  *#members(object: Members, keeps: Keeps, field: string | null = null): Generator<undefined, Members, undefined> {
    let changed: Record<string, unknown> | null = null;
    for (const name in object) {
      const value = object[name];
      if (isPlain(value) || keeps.has(name, value) || (field === null && isNoText(name, value))) continue;
      if (field !== null) this.#observer?.at(`${field}.${name}`);
      const masked = yield* this.#value(value, keeps.within(name));
      if (masked !== value) (changed ??= { ...object })[name] = masked;
    }
    return changed ?? object;
  }

  #replacement(rule: number, value: string): string | null {
    const { name = '', action = 'replace' } = this.#rules[rule] ?? {};
    if (action === 'drop') return null;
    return action === 'replace' ? `[${name}]` : `[${name}:${this.#hash(value)}]`;
  }

  #hash(value: string): string {
    return createHmac('sha256', this.#key).update(value).digest('hex').slice(0, HASH_LENGTH);
  }
}

/** What stays of the members of an object that is no attribute. */
const NOTHING_KEPT: Keeps = { has: () => false, within: () => NOTHING_KEPT };
const TAGS_KEPT: Keeps = { has: (name) => KEPT_TAGS.has(name), within: () => NOTHING_KEPT };
const ATTRIBUTES = attributesKept(null);

/** What stays of the members of an attribute. @param parent its dotted name; null: of attributes */
function attributesKept(parent: string | null): Keeps {
  return {
    has: (name, value) => isKept(parent, name, value),
    within: (name) => {
      const path = keptWithin(parent, name);
      return path === undefined ? NOTHING_KEPT : attributesKept(path);
    },
  };
}

function isNoText(name: string, value: unknown): boolean {
  return NO_TEXT.has(name) && typeof value === 'string';
}

/** Does some work, and gives others their turns wherever it yields and has taken long. */
async function inTurns<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  let began = performance.now();
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
    if (performance.now() - began < MAX_TURN_MS) continue;
    await nextTurn();
    began = performance.now();
  }
}

/** Whether a value has no text in it. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'string' && (typeof value !== 'object' || value === null);
}

function clipped(text: string, longest: number): string {
  return text.length <= longest ? text : text.slice(0, longest).toWellFormed();
}

/** A span has a name. */
function named(field: string, text: string): string {
  return field === 'name' && text === '' ? NAMELESS : text;
}

const NAMELESS = '[masked]';

/** Finds what stands for values: what is sent again as it was read stays as it is. */
function labelsOf(rules: readonly MaskingRule[]): RegExp | null {
  const names = rules.filter(({ action }) => action !== 'drop').map(({ name }) => name);
  return names.length === 0 ? null : new RegExp(`\\[(?:${names.join('|')})(?::[0-9a-f]{${HASH_LENGTH}})?\\]`, 'g');
}

/** The attributes with what stands now for texts that they repeat. */
function withCopies(attributes: Members, copies: ReadonlyMap<string, unknown>): Members {
  if (copies.size === 0) return attributes;
  const repeated = Object.entries(attributes).filter(([, value]) => typeof value === 'string' && copies.has(value));
  if (repeated.length === 0) return attributes;
  return { ...attributes, ...Object.fromEntries(repeated.map(([name, text]) => [name, copies.get(text as string)])) };
}
