const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g;

/** Names of the `{{variable}}` placeholders of a prompt, each once, in their order. */
export function placeholdersOf(content: string): string[] {
  return [...new Set([...content.matchAll(PLACEHOLDER)].map(([, name]) => name ?? ''))];
}

/** The prompt in pieces: every second one is a placeholder as it stands there. */
export function piecesOf(content: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const { 0: whole, index } of content.matchAll(PLACEHOLDER)) {
    pieces.push(content.slice(at, index), whole);
    at = index + whole.length;
  }
  return [...pieces, content.slice(at)];
}

/** The prompt with its placeholders filled in, in one pass; those without a value stay as they are. */
export function fillPlaceholders(content: string, values: Pick<ReadonlyMap<string, string>, 'get'>): string {
  return content.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}

/**
 * The values that a prompt was filled with to give a text; null when the text is not of this prompt. Where one value
 * ends and the next begins is told by the text between them, so placeholders side by side are not told apart.
 */
export function valuesIn(content: string, text: string): Map<string, string> | null {
  const literals = content.split(PLACEHOLDER).filter((_, index) => index % 2 === 0);
  const names = [...content.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');
  const [first = '', ...rest] = literals;
  if (!text.startsWith(first)) return null;
  const values = new Map<string, string>();
  let at = first.length;
  for (const [index, literal] of rest.entries()) {
    const isLast = index === rest.length - 1;
    if (literal === '' && !isLast) return null;
    const end = isLast ? text.length - literal.length : text.indexOf(literal, at);
    if (end < at || !text.startsWith(literal, end)) return null;
    const name = names[index] ?? '';
    const value = text.slice(at, end);
    if ((values.get(name) ?? value) !== value) return null;
    values.set(name, value);
    at = end + literal.length;
  }
  return at === text.length ? values : null;
}

/** Most placeholder names that a message lists, and their length in characters. */
const MAX_NAMED = 10;
const MAX_NAME = 100;

/** Why a text cannot take the place of a prompt, in words for a model; null when it can. */
export function misfit(current: string, content: string): string | null {
  if (content.trim() === '') return 'it is empty';
  const wanted = new Set(placeholdersOf(current));
  const found = new Set(placeholdersOf(content));
  const shown = (names: readonly string[]) =>
    names
      .slice(0, MAX_NAMED)
      .map((name) => `{{${name.slice(0, MAX_NAME)}}}`)
      .join(', ') + (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '');
  const missing = [...wanted].filter((name) => !found.has(name));
  if (missing.length > 0) return `it lacks ${shown(missing)}`;
  const unknown = [...found].filter((name) => !wanted.has(name));
  return unknown.length > 0 ? `it has ${shown(unknown)}, which the current prompt does not have` : null;
}
