/** A piece of a text: what stands there, or characters that would reorder what follows. */
export interface TextPiece {
  readonly text: string;
  /** What the characters are, such as `U+202E`; null: they are no such ones. */
  readonly controls: string | null;
}

/** Embeddings, overrides and isolates. The marks (as U+200F) move nothing but neighbours, as who writes Hebrew or Arabic wants. */
const CONTROLS = /([\u202a-\u202e\u2066-\u2069]+)/;
/** Of a run of them so many are named. */
const NAMED = 3;

/**
 * A text by whether its characters reorder others, so that these can be shown as what they are.
 * @param most runs of controls to be told apart; what is behind them is one piece with its controls
 */
export function piecesByControls(text: string, most: number): TextPiece[] {
  const pieces = text.split(CONTROLS);
  const told = pieces.slice(0, 2 * most);
  const rest = pieces.slice(2 * most).join('');
  return [
    ...told.map((piece, index) => ({ text: piece, controls: index % 2 === 1 ? codesOf(piece) : null })),
    { text: rest, controls: null },
  ].filter((piece) => piece.text !== '');
}

export function hasControls(text: string): boolean {
  return CONTROLS.test(text);
}

function codesOf(run: string): string {
  const named = Array.from(run.slice(0, NAMED), (one) => `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}`);
  return named.join(' ') + (run.length > NAMED ? ` and ${run.length - NAMED} more` : '');
}
