import { LABELS, type Label, type ShapedSpan, type TextEnds, type Texts, type WantedText } from './shapes.js';
import { NEXT_LINE, type TextItem } from './texts.js';
import { counted } from './words.js';

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/gu;

/** Shows texts, and counts what it leaves out of them. */
export class TextWriter {
  readonly #texts: Texts;
  readonly #characters = new Map<ShapedSpan, Partial<Record<Label, number>>>();
  #left = 0;
  #cut = 0;
  #whole = 0;

  /** @param wanted the texts that are shown, and how many characters each may take */
  constructor(texts: Texts, wanted: readonly WantedText[]) {
    this.#texts = texts;
    for (const { span, label, characters } of wanted)
      this.#characters.set(span, { ...this.#characters.get(span), [label]: characters });
  }

  /** Counts texts that are not shown: all of a span, or one. */
  leaveOut({ texts }: ShapedSpan, labels: readonly Label[] = LABELS): void {
    for (const label of labels) {
      this.#whole += texts[label] === null ? 0 : 1;
      this.#left += texts[label]?.length ?? 0;
    }
  }

  /** The lines of a text, with a line break before; empty if it is not shown. */
  lines({ span, label, before }: TextItem): string {
    const ends = this.#texts.get(span.id)?.[label];
    const characters = this.#characters.get(span)?.[label];
    if (ends === undefined || characters === undefined) {
      this.leaveOut(span, [label]);
      return '';
    }
    const { text, left } = fitted(ends, span.texts[label]?.length ?? 0, characters);
    if (left > 0) {
      this.#cut += 1;
      this.#left += left;
    }
    return `\n${before}${text}`;
  }

  /** What was left out, in words; none: nothing was. */
  get leftOut(): string[] {
    if (this.#left === 0) return [];
    const cut = this.#cut === 0 ? [] : [`${counted(this.#cut, 'text')} in part`];
    const whole = this.#whole === 0 ? [] : [`${counted(this.#whole, 'text')} whole`];
    return [`${counted(this.#left, 'character')} of texts (${[...whole, ...cut].join(', ')})`];
  }
}

/** A text of at most so many characters: the middle of a longer one is left out, which it says. @returns `left`: code points left out */
function fitted({ head, tail }: TextEnds, length: number, max: number): { text: string; left: number } {
  const isWhole = tail === '' && pointsOf(head) >= length;
  const whole = isWhole ? broken(head) : '';
  if (isWhole && whole.length <= max) return { text: whole.toWellFormed(), left: 0 };
  const room = max - omission(length).length;
  if (room <= 0) return { text: omission(length).slice(0, Math.max(0, max)), left: length };
  const end = Math.floor(room / 3);
  const first = beginning(head, room - end);
  const last = ending(isWhole ? head.slice(first.length) : tail, end);
  const left = length - pointsOf(first) - pointsOf(last);
  return { text: `${broken(first)}${omission(left)}${broken(last)}`.toWellFormed(), left };
}

function omission(characters: number): string {
  return ` [… ${counted(characters, 'character')} left out …] `;
}

/** The longest beginning of a text that takes at most so many characters. */
function beginning(text: string, max: number): string {
  const some = text.slice(0, max);
  return longest(max, some.length, (length) => whole(some.slice(0, length)));
}

function ending(text: string, max: number): string {
  const some = max <= 0 ? '' : text.slice(-max);
  return longest(max, some.length, (length) => (length === 0 ? '' : whole(some.slice(-length))));
}

/** The longest of some parts, by their length, that takes at most so many characters when it is shown. */
function longest(max: number, length: number, part: (length: number) => string): string {
  let [fits, tooLong] = [0, length + 1];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (broken(part(middle)).length <= max) fits = middle;
    else tooLong = middle;
  }
  return part(fits);
}

/** A part of a text without half a surrogate pair at its ends. */
function whole(part: string): string {
  return part.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '');
}

function broken(text: string): string {
  return text.replaceAll(LINE_BREAK, NEXT_LINE);
}

function pointsOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs += 1;
  return text.length - pairs;
}
