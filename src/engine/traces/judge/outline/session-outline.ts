import { formatTimestamp } from '../../../timestamp.js';
import { lastLine } from './trace-outline.js';
import { LABELS, type OutlinePlan, type ShapedSpan, type WantedText } from './shapes.js';
import { leastOf, LEAST_TEXT, shared, sum, textItems, wantedTexts, type TextItem } from './texts.js';
import { TextWriter } from './text-writer.js';
import { counted, namedSpanWords, spanWords } from './words.js';

/** Characters that the last line, and that about earlier turns, may take. */
const OTHER_LINES = 300;

/** The share of an outline that whole turns may take. */
const FOR_WHOLE = 0.75;

/** A trace of a session: the span that stands for it, and what failed in it. */
export interface TurnShape {
  readonly anchor: ShapedSpan;
  /** How many spans it has, and how many of them failed. */
  readonly spans: number;
  readonly errors: number;
  /** The first spans that failed, except for the one that stands for it. */
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
 * for it, and what failed. The latest traces are kept whole, except for what is reserved for others; then the texts of earlier
 * ones all get the same length, and the earliest are counted. The last line says what was left out.
 * @param withIds whether lines name traces and spans by id, too
 */
export function sessionOutline({ turns, traces, spans }: SessionShape, budget: number, withIds = false): OutlinePlan {
  const numbered = (turn: TurnShape, place: number) => ({
    turn,
    number: traces - turns.length + place + 1,
    of: traces,
  });
  const latest = turns.map((turn, place) => blockOf(numbered(turn, place), withIds)).reverse();
  const room = Math.max(0, budget - OTHER_LINES);
  const shown = kept(latest, room).reverse();
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

interface NumberedTurn {
  readonly turn: TurnShape;
  readonly number: number;
  readonly of: number;
}

function blockOf({ turn, number, of }: NumberedTurn, withIds: boolean): Block {
  const { anchor, spans, errors, failed } = turn;
  const words = withIds ? namedSpanWords : spanWords;
  const counts = [counted(spans, 'span'), ...(errors === 0 ? [] : [counted(errors, 'error')])].join(', ');
  const named = withIds ? `, trace ${anchor.trace_id}` : '';
  const header = `Turn ${number} of ${of}${named}, ${formatTimestamp(anchor.started_at)}: ${words(anchor)}, ${counts}`;
  const texts = LABELS.flatMap((label) => textItems(anchor, label, `  ${label}: `));
  const errorsBelow = failed.flatMap((span) => textItems(span, 'error', `  error in ${words(span)}: `));
  return { turn, header, items: [...texts, ...errorsBelow] };
}

/** A turn, and the characters that its texts get at least, in their order. */
interface Kept extends Block {
  readonly floors: readonly number[];
}

/**
 * The turns that are shown, the latest first: whole ones in most of the budget, of which the very latest may be cut if need be,
 * then those of which there is room for the least.
 */
function kept(latest: readonly Block[], budget: number): Kept[] {
  const shown: Kept[] = [];
  let left = budget;
  let forWhole = Math.floor(budget * FOR_WHOLE);
  for (const block of latest) {
    const least = leastOfBlock(block);
    if (least > left) break;
    const more = block.items.map(({ need }) => Math.max(0, need - LEAST_TEXT));
    const isWhole = shown.length === 0 || least + sum(more) <= forWhole;
    const given = isWhole ? shared(more, Math.max(0, forWhole - least)) : more.map(() => 0);
    const taken = least + sum(given);
    left -= taken;
    // Earlier ones are not whole where a later one is not.
    forWhole = isWhole ? forWhole - taken : 0;
    shown.push({ ...block, floors: given.map((characters) => LEAST_TEXT + characters) });
  }
  return shown;
}

/** What is read of the texts of some turns, in their order. */
function shownTexts(blocks: readonly Kept[], budget: number): WantedText[] {
  const items = blocks.flatMap((block) => block.items);
  const before = sum(blocks.map(({ header }) => header.length + 1)) + sum(items.map((item) => item.before.length + 1));
  const needs = items.map(({ need }) => need);
  const floors = blocks.flatMap((block) => block.floors);
  return wantedTexts(items, shared(needs, budget - before, floors));
}

function leastOfBlock({ header, items }: Block): number {
  return header.length + 1 + sum(items.map(leastOf));
}
