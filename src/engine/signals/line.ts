/** A line of the log, declared once: the log writes it, and the manual lists it. */
export type Line = TroubleLine | NoteLine;

interface LineWords {
  /** Never changes; what does is in fields. */
  readonly message: string;
  /** When the line is written, for the manual. */
  readonly when: string;
}

/** What an operator should look at, with what to do about it. */
export interface TroubleLine extends LineWords {
  readonly level: 'error' | 'warn';
  readonly action: string;
}

export interface NoteLine extends LineWords {
  readonly level: 'info' | 'debug';
}

/** Keeps the names of lines as they are, for those who say them. */
export function defineLines<const Lines extends Readonly<Record<string, Line>>>(lines: Lines): Lines {
  return lines;
}
