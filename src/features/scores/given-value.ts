import type { SignalType } from '../../engine/traces/model/score/schema.js';
import type { ScoreKind, ScoreValue } from '../../engine/traces/model/score/score.js';

/** A value as it was sent, which a definition reads. */
export interface GivenValue {
  /** What it is as the first value of its name. */
  readonly first: ScoreValue;
  /** What it says to a definition of a kind. */
  as(kind: ScoreKind): ScoreValue;
}

export function exactly(value: ScoreValue): GivenValue {
  return { first: value, as: () => value };
}

/**
 * The value of a signal. The Python SDK sends every value as text, with the type that it had: `"true"` as `boolean` or
 * `numerical`, `"0.5"` as `numerical`. A text that a definition can read as a number or a boolean is one.
 */
export function signalValue(value: ScoreValue, type: SignalType | null): GivenValue {
  if (typeof value !== 'string') return exactly(value);
  return {
    first: firstOf(value, type),
    as: (kind) => (kind === 'numeric' || kind === 'boolean' ? read(value) : value),
  };
}

function firstOf(text: string, type: SignalType | null): ScoreValue {
  const said = type === 'categorical' ? text : read(text);
  return typeof said === 'number' && type !== 'numerical' ? text : said;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The boolean or number that a text says; the text itself where it says neither. */
function read(text: string): ScoreValue {
  const word = text.trim().toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  const number = NUMBER.test(word) ? Number(word) : NaN;
  return Number.isFinite(number) ? number : text;
}
