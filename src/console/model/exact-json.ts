import { parseJsonText, type JsonContext } from '../../engine/json-text.js';

/** A number of a JSON text that JavaScript would round: it is shown as it was written. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };
    return rawJSON === undefined ? Number(this.text) : rawJSON(this.text);
  }
}

/** Whether a text may have such a number; to look at each value takes many times as long as to read the text. */
const MAY_ROUND = /\d[\d.]{15}|[eE][+-]?\d{3}/;
/** Digits that every number keeps. */
const KEPT_DIGITS = 15;

/** Reads a JSON text without rounding its numbers. @throws as {@link parseJsonText} */
export function parseExactly(text: string): unknown {
  return parseJsonText(text, undefined, MAY_ROUND.test(text) ? written : undefined);
}

function written(_key: string, value: unknown, { source }: JsonContext = {}): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '');
  return digits.length > KEPT_DIGITS || !Number.isFinite(value) ? new WrittenNumber(source) : value;
}
