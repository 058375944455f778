import stringWidth from 'string-width';

/** What a command prints, by field. */
export type Row = Readonly<Record<string, unknown>>;

const GAP = '  ';
const NOTHING = '-';
/** What moves the cursor, colors, hides or reorders text, but for the joiners that words and emoji are written with. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text from outside as one line for a terminal, which must not take any of it for a command. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same of a text that has lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** How a cell looks; `row` is null for the name of the column. */
export type Paint = (text: string, name: string, row: Row | null) => string;

/** How wide a table may be, and how it looks. */
export interface TableLook {
  /** Columns of the terminal: columns of the table that do not fit are left out. */
  readonly width?: number;
  /** Longer cells are cut. */
  readonly cellWidth?: number;
  readonly paint?: Paint;
}

/** Columns with their names in capitals above; what a row does not have is a dash. */
export function tableOf(
  rows: readonly Row[],
  { width = Infinity, cellWidth = Infinity, paint = (text) => text }: TableLook = {},
): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  let left = width;
  const columns = names.flatMap((name) => {
    const cells = [printable(name.toUpperCase()), ...rows.map((row) => shortened(cellText(row[name]), cellWidth))];
    const columnWidth = widest(cells);
    left -= columnWidth + GAP.length;
    if (left + GAP.length < 0) return [];
    const right = rows.every((row) => typeof row[name] === 'number');
    return [cells.map((cell, at) => paint(padded(cell, columnWidth, right), name, rows[at - 1] ?? null))];
  });
  const lines = [-1, ...rows.keys()].map((index) => columns.map((column) => column[index + 1]).join(GAP));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Each field in a line of its own. */
export function fieldsOf(row: Row): string {
  const names = Object.keys(row).map(printable);
  const width = widest(names);
  return Object.values(row)
    .map((value, index) => `${padded(names[index] ?? '', width)}${GAP}${cellText(value)}\n`)
    .join('');
}

/** For programs, and for a terminal all the same: JSON by itself escapes the oldest control characters alone. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, null, 2).replace(UNPRINTABLE, (character) =>
    // Between values, not in them: in a text it is escaped already.
    character === '\n' ? character : escapedUnits(character),
  );
  return `${text}\n`;
}

/** The same in one line. */
export function jsonLineOf(value: unknown): string {
  return `${JSON.stringify(value).replace(UNPRINTABLE, escapedUnits)}\n`;
}

function escapedUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Prints a list: as JSON, or as a table that a sentence stands for when it has no rows. */
export function printList(
  rows: readonly Row[],
  { json, none }: { readonly json: boolean; readonly none: string },
): void {
  if (json) process.stdout.write(jsonOf(rows));
  // Not to standard output: programs would take the sentence for a row.
  else if (rows.length === 0) process.stderr.write(`${none}\n`);
  else process.stdout.write(tableOf(rows));
}

/** Says why a command failed, in which there may be words of others. */
export function printFailure(error: unknown): void {
  process.stderr.write(`${printableLines(error instanceof Error ? error.message : String(error))}\n`);
}

function shortened(cell: string, width: number): string {
  const characters = width === Infinity ? [] : Array.from(cell);
  return characters.length <= width ? cell : `${characters.slice(0, width - 1).join('')}…`;
}

/** A value as one line for a terminal. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** In columns of a terminal, of which letters of some scripts take two. */
function widest(cells: readonly string[]): number {
  return cells.reduce((width, cell) => Math.max(width, stringWidth(cell)), 0);
}

function padded(cell: string, width: number, right = false): string {
  const spaces = ' '.repeat(width - stringWidth(cell));
  return right ? spaces + cell : cell + spaces;
}
