/** A text of at most about `max` characters: the middle of a longer one is left out, which the text says. */
export function excerptOf(text: string | null, max: number): string | null {
  if (text === null || text.length <= max) return text;
  const head = Math.ceil((max * 2) / 3);
  const tail = max - head;
  const left = text.length - max;
  // A cut may halve a surrogate pair.
  return `${text.slice(0, head)} [… ${left} characters left out …] ${text.slice(text.length - tail)}`.toWellFormed();
}

/** Tokens of a text, estimated: four characters each: no fewer than real for English and for JSON of it. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
