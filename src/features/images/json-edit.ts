import { toJsonText } from '../../engine/json-text.js';

/** A property of one element of a JSON array of objects, and the properties to stand in its place. */
export interface ItemEdit {
  readonly index: number;
  readonly property: string;
  readonly value: string;
  readonly replacement: Readonly<Record<string, string | number>>;
}

/**
 * Edits elements of a JSON array in its text, so that everything else stays to the character (numbers beyond double
 * precision, order, white space). Where a text cannot be edited so, because it escapes characters that need not be, the
 * array is written anew.
 * @param elements as the text was read, so of bounded depth
 * @param edits by ascending index
 */
export function editItems(text: string, elements: readonly unknown[], edits: readonly ItemEdit[]): string {
  const edited = editText(text, edits);
  return edited !== null && holds(edited, edits) ? edited : rewritten(elements, edits);
}

/** The element with the edit applied. */
export function editedItem(
  item: Readonly<Record<string, unknown>>,
  { property, replacement }: Omit<ItemEdit, 'index'>,
) {
  const { [property]: _replaced, ...rest } = item;
  return { ...rest, ...replacement };
}

function editText(text: string, edits: readonly ItemEdit[]): string | null {
  const parts: string[] = [];
  let from = 0;
  for (const { property, value, replacement } of edits) {
    const found = findProperty(text, property, JSON.stringify(value), from);
    if (found === null) return null;
    parts.push(text.slice(from, found.start), JSON.stringify(replacement).slice(1, -1));
    from = found.end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** White space between a name and its value that is looked through. */
const MAX_GAP = 64;

function findProperty(text: string, property: string, literal: string, from: number) {
  const name = JSON.stringify(property);
  for (let at = text.indexOf(literal, from); at !== -1; at = text.indexOf(literal, at + 1)) {
    const before = text.slice(Math.max(from, at - MAX_GAP - name.length), at).trimEnd();
    const unnamed = before.endsWith(':') ? before.slice(0, -1).trimEnd() : '';
    if (unnamed.endsWith(name)) return { start: text.lastIndexOf(name, at - 1), end: at + literal.length };
  }
  return null;
}

function holds(text: string, edits: readonly ItemEdit[]): boolean {
  let elements: unknown;
  try {
    elements = JSON.parse(text);
  } catch {
    return false;
  }
  if (!Array.isArray(elements)) return false;
  return edits.every(({ index, property, replacement }) => {
    const element = elements[index] as Readonly<Record<string, unknown>> | undefined;
    if (typeof element !== 'object' || element === null) return false;
    const replaced = Object.entries(replacement).every(([name, value]) => element[name] === value);
    return replaced && (property in replacement || !(property in element));
  });
}

function rewritten(elements: readonly unknown[], edits: readonly ItemEdit[]): string {
  const copy = [...elements];
  for (const edit of edits) copy[edit.index] = editedItem(copy[edit.index] as Readonly<Record<string, unknown>>, edit);
  return toJsonText(copy);
}
