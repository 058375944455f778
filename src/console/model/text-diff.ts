import { diffLines, diffWordsWithSpace } from 'diff';
import { placeholdersOf } from '../../features/optimization/placeholders.js';

/** A part of a line; a changed one is not in the other text. */
export interface DiffPart {
  readonly text: string;
  readonly changed: boolean;
}

export interface DiffLine {
  /** From 1 on, in its own text. */
  readonly number: number;
  readonly parts: readonly DiffPart[];
}

/** A line of both texts beside each other. Of a changed row, one side may be missing. */
export interface DiffRow {
  readonly same: boolean;
  readonly before: DiffLine | null;
  readonly after: DiffLine | null;
}

/** Rows that follow each other, and how many rows that are the same on both sides stand before them unshown. */
export interface DiffHunk {
  readonly skipped: number;
  readonly rows: readonly DiffRow[];
}

/** How long comparing lines may take, and then all words, in milliseconds: beyond it, what changed is not told apart anymore. */
const TIMEOUT = 400;
/** Rows shown around a change. */
const CONTEXT = 3;

/** Two texts line by line, with the words that changed. */
export function diffRows(before: string, after: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const at = { before: 1, after: 1 };
  const add = (removed: readonly DiffPart[][], added: readonly DiffPart[][], same: boolean) => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push({ same, before: lineOf(removed[index], 'before'), after: lineOf(added[index], 'after') });
  };
  const lineOf = (parts: readonly DiffPart[] | undefined, side: keyof typeof at) =>
    parts === undefined ? null : { number: at[side]++, parts };
  // With a line break at the end of both, the last line is compared as every other one.
  const [left, right] = [`${before}\n`, `${after}\n`];
  const changes = diffLines(left, right, { timeout: TIMEOUT }) ?? [
    { value: left, added: false, removed: true },
    { value: right, added: true, removed: false },
  ];
  const until = Date.now() + TIMEOUT;
  for (const [index, { value, added, removed }] of changes.entries()) {
    const next = changes[index + 1];
    if (removed && next?.added === true) {
      add(...diffWords(value, next.value, until), false);
    } else if (!added || changes[index - 1]?.removed !== true) {
      const lines = linesOf([{ text: value, changed: added || removed }]);
      add(added ? [] : lines, removed ? [] : lines, !added && !removed);
    }
  }
  return rows;
}

/** The rows that changed, with some around them. @param context so many; null: all rows are shown */
export function hunksOf(
  rows: readonly DiffRow[],
  context: number | null = CONTEXT,
): { readonly hunks: readonly DiffHunk[]; readonly skippedAfter: number } {
  if (context === null) return { hunks: [{ skipped: 0, rows }], skippedAfter: 0 };
  const hunks: { skipped: number; rows: DiffRow[] }[] = [];
  let [shownTo, changedAt] = [0, -Infinity];
  for (const [index, row] of rows.entries()) {
    if (!row.same) {
      const from = Math.max(shownTo, index - context);
      if (from > shownTo || hunks.length === 0) hunks.push({ skipped: from - shownTo, rows: [] });
      hunks.at(-1)?.rows.push(...rows.slice(from, index + 1));
      [shownTo, changedAt] = [index + 1, index];
    } else if (index - changedAt <= context) {
      hunks.at(-1)?.rows.push(row);
      shownTo = index + 1;
    }
  }
  return { hunks, skippedAfter: rows.length - shownTo };
}

export interface VariableChange {
  readonly name: string;
  readonly change: 'removed' | 'added' | 'kept';
}

/** The `{{variables}}` of two texts, each once: those that went, those that came, those that both have. */
export function variableChanges(before: string, after: string): VariableChange[] {
  const [left, right] = [new Set(placeholdersOf(before)), new Set(placeholdersOf(after))];
  const as = (change: VariableChange['change'], names: readonly string[]) => names.map((name) => ({ name, change }));
  return [
    ...as(
      'removed',
      [...left].filter((name) => !right.has(name)),
    ),
    ...as(
      'added',
      [...right].filter((name) => !left.has(name)),
    ),
    ...as(
      'kept',
      [...right].filter((name) => left.has(name)),
    ),
  ];
}

/** @param until when the words of lines are no longer compared, as it was of others for too long */
function diffWords(before: string, after: string, until: number): [DiffPart[][], DiffPart[][]] {
  const left = until - Date.now();
  const changes = left <= 0 ? undefined : diffWordsWithSpace(before, after, { timeout: left });
  const side = (text: string, skipped: 'added' | 'removed') =>
    linesOf(
      changes === undefined
        ? [{ text, changed: true }]
        : changes
            .filter((change) => !change[skipped])
            .map(({ value, added, removed }) => ({ text: value, changed: added || removed })),
    );
  return [side(before, 'added'), side(after, 'removed')];
}

/** Parts, by the lines that they stand in. A line break at the end begins no further line. */
function linesOf(parts: readonly DiffPart[]): DiffPart[][] {
  const lines: DiffPart[][] = [];
  let line: DiffPart[] = [];
  for (const { text, changed } of parts)
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) {
        lines.push(line);
        line = [];
      }
      if (piece !== '') line.push({ text: piece, changed });
    }
  return line.length === 0 && lines.length > 0 ? lines : [...lines, line];
}
