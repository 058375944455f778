/** A text of at most about this many characters: of a longer one the middle is left out, which it says. */
export function excerptOf(text: string | null, max: number): string | null {
  if (text === null || text.length <= max) return text;
  const head = Math.ceil((max * 2) / 3);
  const tail = max - head;
  const left = text.length - max;
  // A cut may halve a surrogate pair.
  return `${text.slice(0, head)} [… ${left} characters left out …] ${text.slice(text.length - tail)}`.toWellFormed();
}

/** Tokens of a text, estimated: four characters each. It is no less than real for English and for JSON of it. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
