import { LABELS, type OutlinePlan, type ShapedSpan } from './shapes.js';
import { fittingItems, leastOf, LEAST_TEXT, shared, sum, textItems, wantedTexts, type TextItem } from './texts.js';
import { TextWriter } from './text-writer.js';
import { hiddenWords, sizeOf, treeLines, treeOf, type TreeLine } from './tree.js';
import { counted, namedSpanWords, spanWords } from './words.js';

/** Characters that the last line may take. */
const LAST_LINE = 200;

/** A trace before its texts are read. */
export interface TraceShape {
  /** The spans that are known one by one, in the order of start. */
  readonly spans: readonly ShapedSpan[];
  /** Id of the one that stands for the trace. */
  readonly anchor: string;
  /** How many other spans it has, by kind: those in the middle of a very large trace. */
  readonly unread: ReadonlyMap<string, number>;
}

/**
 * A trace as text of at most so many characters: its tree, a line for each span, and below it the texts of the span. The tree
 * takes half of it at most, and counts spans in the middle of long runs where it does not fit. The rest is for texts: all get
 * the same length, but those of the span that stands for the trace a third before the others, and errors a quarter. The last
 * line says what was left out.
 * @param withIds whether lines name spans by id, too
 */
export function traceOutline({ spans, anchor, unread }: TraceShape, budget: number, withIds = false): OutlinePlan {
  const more = unread.size === 0 ? [] : [hiddenWords(sum([...unread.values()]), unread)];
  const room = Math.max(0, budget - LAST_LINE - sum(more.map((line) => line.length + 1)));
  const words = withIds ? namedSpanWords : spanWords;
  const lines = treeLines(treeOf(spans, anchor), Math.floor(room / 2), words);
  const blocks = lines.map((line) => ({ line, items: itemsOf(line) }));
  const left = room - sizeOf(lines);
  const items = byRank(lines).flatMap(itemsOf);
  const texts = fittingItems(items, left);
  const wanted = wantedTexts(texts, charactersOf(texts, left, anchor));
  const shown = lines.flatMap((line) => ('shown' in line ? [line.shown.span] : []));
  return {
    wanted,
    shown,
    write(read) {
      const writer = new TextWriter(read, wanted);
      const text = blocks.map((block) => `${block.line.text}${block.items.map((item) => writer.lines(item)).join('')}`);
      for (const { line } of blocks) if ('hidden' in line) for (const { span } of line.hidden) writer.leaveOut(span);
      const total = spans.length + sum([...unread.values()]);
      return [...text, ...more, lastLine({ total, shown: shown.length }, writer.leftOut)].join('\n').slice(0, budget);
    },
  };
}

function byRank(lines: readonly TreeLine[]): readonly TreeLine[] {
  const rank = (line: TreeLine) => ('shown' in line ? line.shown.rank : Infinity);
  return lines.toSorted((a, b) => rank(a) - rank(b));
}

function itemsOf(line: TreeLine): TextItem[] {
  if (!('shown' in line)) return [];
  const { span } = line.shown;
  return LABELS.flatMap((label) => textItems(span, label, `${line.indent}  ${label}: `));
}

/** The characters that each text gets. */
function charactersOf(items: readonly TextItem[], budget: number, anchor: string): number[] {
  const needs = items.map(({ need }) => need);
  const forTexts = budget - sum(items.map(({ before }) => before.length + 1));
  // What is more than the least of each may be given to some before others.
  const free = Math.max(0, budget - sum(items.map(leastOf)));
  const first = (is: (item: TextItem) => boolean, room: number) => {
    const some = items.map((item) => is(item));
    const given = shared(
      items.map(({ need }, place) => (some[place] === true ? Math.max(0, need - LEAST_TEXT) : 0)),
      room,
    );
    return (place: number) => (some[place] === true ? (given[place] ?? 0) : 0);
  };
  const errors = first(({ label }) => label === 'error', Math.floor(free / 4));
  const root = first(({ span, label }) => label !== 'error' && span.id === anchor, Math.floor(free / 3));
  const floors = items.map((_item, place) => LEAST_TEXT + errors(place) + root(place));
  return shared(needs, forTexts, floors);
}

/** The last line of an outline, which says what is not in it. */
export function lastLine(
  { total, shown, noun = 'span' }: { readonly total: number; readonly shown: number; readonly noun?: string },
  leftOut: readonly string[],
): string {
  const hidden = total === shown ? [] : [counted(total - shown, noun)];
  const out = [...hidden, ...leftOut];
  return `[${counted(total, noun)}. Left out: ${out.length === 0 ? 'nothing' : out.join(' and ')}.]`;
}
