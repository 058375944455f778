import { formatTimestamp } from '../../../timestamp.js';
import { lastLine } from './trace-outline.js';
import { LABELS, type OutlinePlan, type ShapedSpan } from './shapes.js';
import { leastOf, LEAST_TEXT, shared, sum, textItems, wantedTexts, type TextItem } from './texts.js';
import { TextWriter } from './text-writer.js';
import { counted, spanWords } from './words.js';

/** Characters that the last line, and that about earlier turns, may take. */
const OTHER_LINES = 300;

/** A trace of a session: the span that stands for it, and what failed in it. */
export interface TurnShape {
  readonly anchor: ShapedSpan;
  /** How many spans it has, and how many of them failed. */
  readonly spans: number;
  readonly errors: number;
  /** The first spans that failed, but for the one that stands for it. */
  readonly failed: readonly ShapedSpan[];
}

/** A session before its texts are read. */
export interface SessionShape {
  /** Its latest traces, in the order of start. */
  readonly turns: readonly TurnShape[];
  /** How many traces and spans it has, also earlier ones. */
  readonly traces: number;
  readonly spans: number;
}

/**
 * The conversation of a session as text of at most so many characters: of each trace, input and output of the span that stands
 * for it, and what failed. The latest traces are kept whole first, but for what is reserved for others; then the texts of
 * earlier ones all get the same length, and the earliest are counted. The last line says what was left out.
 */
export function sessionOutline({ turns, traces, spans }: SessionShape, budget: number): OutlinePlan {
  const latest = turns.map((turn, place) => blockOf(turn, traces - turns.length + place + 1, traces)).reverse();
  const room = Math.max(0, budget - OTHER_LINES);
  const shown = fittingBlocks(latest, room).reverse();
  const wanted = shownTexts(shown, room);
  const earlier = traces - shown.length;
  const seen = shown.flatMap(({ turn }) => [turn.anchor, ...turn.failed]);
  return {
    wanted,
    shown: seen,
    write(read) {
      const writer = new TextWriter(read, wanted);
      const text = shown.map(({ header, items }) => `${header}${items.map((item) => writer.lines(item)).join('')}`);
      const left = spans - sum(shown.map(({ turn }) => turn.spans));
      const before = earlier === 0 ? [] : [`… ${counted(earlier, 'earlier turn')} with ${counted(left, 'span')} …`];
      const last = lastLine({ total: traces, shown: shown.length, noun: 'turn' }, writer.leftOut);
      return [...before, ...text, last].join('\n').slice(0, budget);
    },
  };
}

interface Block {
  readonly turn: TurnShape;
  readonly header: string;
  readonly items: readonly TextItem[];
}

function blockOf(turn: TurnShape, number: number, of: number): Block {
  const { anchor, spans, errors, failed } = turn;
  const counts = [counted(spans, 'span'), ...(errors === 0 ? [] : [counted(errors, 'error')])].join(', ');
  const header = `Turn ${number} of ${of}, ${formatTimestamp(anchor.started_at)}: ${spanWords(anchor)}, ${counts}`;
  const texts = LABELS.flatMap((label) => textItems(anchor, label, `  ${label}: `));
  const errorsBelow = failed.flatMap((span) => textItems(span, 'error', `  error in ${spanWords(span)}: `));
  return { turn, header, items: [...texts, ...errorsBelow] };
}

/** The latest turns of which there is room for the least. */
function fittingBlocks(latest: readonly Block[], budget: number): Block[] {
  let left = budget;
  const end = latest.findIndex((block) => {
    left -= leastOfBlock(block);
    return left < 0;
  });
  return latest.slice(0, end === -1 ? latest.length : end);
}

/** What is read of the texts of some turns, in their order. */
function shownTexts(blocks: readonly Block[], budget: number) {
  const items = blocks.flatMap((block) => block.items);
  const forTexts = budget - sum(blocks.map(({ header }) => header.length + 1)) - sum(items.map(beforeOf));
  let free = budget - sum(blocks.map(leastOfBlock));
  // The latest gets up to three quarters of what is left, whole or not; each one before it only if it is whole then.
  const floors = new Map<TextItem, number>();
  for (const [place, block] of blocks.toReversed().entries()) {
    const more = block.items.map(({ need }) => Math.max(0, need - LEAST_TEXT));
    const room = Math.floor((free * 3) / 4);
    if (place > 0 && sum(more) > room) break;
    const given = shared(more, room);
    for (const [at, item] of block.items.entries()) floors.set(item, LEAST_TEXT + (given[at] ?? 0));
    free -= sum(given);
  }
  const needs = items.map(({ need }) => need);
  return wantedTexts(
    items,
    shared(
      needs,
      forTexts,
      items.map((item) => floors.get(item) ?? LEAST_TEXT),
    ),
  );
}

function leastOfBlock({ header, items }: Block): number {
  return header.length + 1 + sum(items.map(leastOf));
}

function beforeOf({ before }: TextItem): number {
  return before.length + 1;
}
