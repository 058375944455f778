import { WrittenNumber } from './exact-json.js';

/** A row of a JSON tree: a value with its key, or a range of the members of a long object or array. */
export interface JsonRow {
  /** Key, index, or range such as `1000 … 1999`; null for the root. */
  readonly key: string | null;
  readonly depth: number;
  readonly type: 'object' | 'array' | 'range' | 'string' | 'number' | 'boolean' | 'null';
  /** What a value says, cut to {@link SHOWN} characters; empty for what can be opened. */
  readonly text: string;
  /** Characters of a string; members of anything that can be opened; 0 for the rest. */
  readonly length: number;
  /** Null: there is nothing to open. */
  readonly open: boolean | null;
  /** From 1, among its siblings. */
  readonly position: number;
  readonly siblings: number;
}

/** Characters of a string that its row shows. */
export const SHOWN = 200;
/** Members are shown in ranges of so many when there are more: no one reads thousands, and no browser scrolls millions. */
const RANGE = 1000;
/** Rows that are open at first, at most. */
const OPEN_AT_FIRST = 60;

/** A value, or members of one. */
interface Part {
  readonly value: unknown;
  /** Members `from` to `to`, of which children are `step` each. */
  readonly keys: readonly string[] | null;
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

interface Opened extends Part {
  readonly place: number;
  readonly above: Opened | null;
  readonly depth: number;
  readonly size: number;
  /** Rows shown below it. */
  rows: number;
  /** Its opened children, by place. */
  readonly opened: Opened[];
}

/** The shown rows of a JSON value. Only what is opened costs anything. */
export class JsonRows {
  readonly #value: unknown;
  #root: Opened | null = null;

  constructor(value: unknown) {
    this.#value = value;
    if (membersOf(value) === 0) return;
    this.toggle(0);
    // As much as is seen at once, level by level.
    for (let row = 1; row < this.count && this.count < OPEN_AT_FIRST; row += 1) {
      const { open, length } = this.row(row);
      if (open === false && this.count + length <= OPEN_AT_FIRST) this.toggle(row);
    }
  }

  get count(): number {
    return 1 + (this.#root?.rows ?? 0);
  }

  rows(from: number, to: number): JsonRow[] {
    const end = Math.min(to, this.count);
    return Array.from({ length: Math.max(0, end - from) }, (_, index) => this.row(from + index));
  }

  row(row: number): JsonRow {
    const { above, place, opened } = this.#locate(row);
    const part = opened ?? (above === null ? whole(this.#value) : childOf(above, place));
    const shared = {
      key: above === null ? null : labelOf(above, place),
      depth: above === null ? 0 : above.depth + 1,
      position: place + 1,
      siblings: above?.size ?? 1,
    };
    if (part.step === 0) return { ...shared, ...leaf(part.value), open: null };
    const type = isRange(part) ? 'range' : Array.isArray(part.value) ? 'array' : 'object';
    return {
      ...shared,
      type,
      text: '',
      length: part.to - part.from,
      open: part.to === part.from ? null : opened !== null,
    };
  }

  /** Opens or closes a row; what cannot be opened stays as it is. */
  toggle(row: number): void {
    const { above, place, opened } = this.#locate(row);
    if (opened !== null) {
      add(above, -opened.rows);
      if (above === null) this.#root = null;
      else above.opened.splice(above.opened.indexOf(opened), 1);
      return;
    }
    const part = above === null ? whole(this.#value) : childOf(above, place);
    if (part.step === 0 || part.to === part.from) return;
    const size = Math.ceil((part.to - part.from) / part.step);
    const made: Opened = {
      ...part,
      place,
      above,
      depth: above === null ? 0 : above.depth + 1,
      size,
      rows: size,
      opened: [],
    };
    if (above === null) this.#root = made;
    else above.opened.splice(firstAfter(above.opened, place), 0, made);
    add(above, size);
  }

  /** The row that a row stands in; -1 for the root. */
  parent(row: number): number {
    const { above } = this.#locate(row);
    return above === null ? -1 : this.#rowOf(above);
  }

  /** Where the row's value is, as `jq` and most languages write it; a range is its container. */
  path(row: number): string {
    const { above, place, opened } = this.#locate(row);
    const steps: string[] = [];
    const own = opened ?? (above === null ? null : childOf(above, place));
    let [at, index]: [Opened | null, number] = [above, place];
    if (own !== null && isRange(own)) [at, index] = [above?.above ?? null, above?.place ?? 0];
    for (; at !== null; [at, index] = [at.above, at.place])
      if (at.step === 1) steps.unshift(stepTo(labelOf(at, index), at.keys === null));
    return `.${steps.join('')}`.replace(/^\.\./, '.');
  }

  /** What a row holds: a text as it is, anything else as JSON. */
  value(row: number): string {
    const { above, place } = this.#locate(row);
    const { value } = above === null ? whole(this.#value) : childOf(above, place);
    return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  }

  #rowOf(opened: Opened): number {
    let row = 0;
    for (let at: Opened = opened; at.above !== null; at = at.above) {
      row += 1 + at.place;
      for (const { place, rows } of at.above.opened) if (place < at.place) row += rows;
    }
    return row;
  }

  #locate(row: number): { readonly above: Opened | null; readonly place: number; readonly opened: Opened | null } {
    if (row <= 0 || this.#root === null) return { above: null, place: 0, opened: this.#root };
    let above = this.#root;
    let left = row - 1;
    for (;;) {
      let inner: Opened | null = null;
      for (const child of above.opened) {
        if (left <= child.place) break;
        if (left <= child.place + child.rows) {
          inner = child;
          break;
        }
        left -= child.rows;
      }
      if (inner === null)
        return { above, place: left, opened: above.opened.find(({ place }) => place === left) ?? null };
      left -= inner.place + 1;
      above = inner;
    }
  }
}

function whole(value: unknown): Part {
  if (!holdsMembers(value)) return { value, keys: null, from: 0, to: 0, step: 0 };
  const keys = Array.isArray(value) ? null : Object.keys(value);
  const to = keys?.length ?? membersOf(value);
  return { value, keys, from: 0, to, step: stepFor(to) };
}

function childOf({ value, keys, from, to, step }: Part, place: number): Part {
  if (step === 1) {
    const index = from + place;
    return whole(keys === null ? (value as unknown[])[index] : (value as Record<string, unknown>)[keys[index] ?? '']);
  }
  const first = from + place * step;
  const last = Math.min(to, first + step);
  return { value, keys, from: first, to: last, step: step / RANGE };
}

/** Members that one row below stands for: 1, or a thousand, or a million. */
function stepFor(members: number): number {
  let step = 1;
  while (members > step * RANGE) step *= RANGE;
  return step;
}

function isRange({ from, to, keys, value }: Part): boolean {
  return from !== 0 || to !== (keys?.length ?? membersOf(value));
}

function labelOf({ keys, from, to, step }: Part, place: number): string {
  if (step === 1) return keys?.[from + place] ?? String(from + place);
  const first = from + place * step;
  return `${first} … ${Math.min(to, first + step) - 1}`;
}

function stepTo(key: string, isIndex: boolean): string {
  if (isIndex) return `[${key}]`;
  return /^[a-z_]\w*$/i.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function leaf(value: unknown): Pick<JsonRow, 'type' | 'text' | 'length'> {
  if (typeof value === 'string') return { type: 'string', text: value.slice(0, SHOWN), length: value.length };
  if (typeof value === 'number') return { type: 'number', text: String(value), length: 0 };
  if (value instanceof WrittenNumber) return { type: 'number', text: value.text.slice(0, SHOWN), length: 0 };
  if (typeof value === 'boolean') return { type: 'boolean', text: String(value), length: 0 };
  return { type: 'null', text: 'null', length: 0 };
}

function holdsMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof WrittenNumber);
}

function membersOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return holdsMembers(value) ? Object.keys(value).length : 0;
}

function firstAfter(opened: readonly Opened[], place: number): number {
  const found = opened.findIndex((other) => other.place > place);
  return found < 0 ? opened.length : found;
}

function add(from: Opened | null, rows: number): void {
  for (let at = from; at !== null; at = at.above) at.rows += rows;
}
