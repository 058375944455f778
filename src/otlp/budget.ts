import { DomainError } from '../engine/errors.js';
import { JsonNames } from '../engine/json-text.js';

/** Values nested deeper than this are refused: no exporter nests so deep, and recursion must end. */
export const MAX_DEPTH = 64;

/**
 * Most objects that decoding one request may create, counted in parts. An empty message is two bytes on the wire and hundreds in
 * memory, so the size of a body alone does not bound it: this does, to some 200 MB. Spans of 20 attributes fit 35,000 times.
 */
export const MAX_PARTS = 1_000_000;

/** How many parts each thing counts for, after the memory it takes when empty. */
export const PARTS = { group: 8, span: 8, event: 4, link: 4, attribute: 1, element: 1, list: 2 } as const;

/** Counts what decoding one request creates. */
export class Budget {
  #left = MAX_PARTS;
  /** Keys of attributes: those that are new cost as much as new names in JSON. */
  readonly #keys = new JsonNames();

  /** @throws DomainError `too_large` when the request holds more than {@link MAX_PARTS} */
  spend(parts: number): void {
    this.#left -= parts;
    if (this.#left < 0) {
      throw new DomainError(
        'too_large',
        'the request has too many spans, events, links and attributes: send smaller batches',
      );
    }
  }

  /** Counts an attribute. @throws DomainError `too_large` when the request holds too many parts or keys */
  spendAttribute(key: string): void {
    this.spend(PARTS.attribute);
    if (!this.#keys.admitName(key))
      throw new DomainError('too_large', 'the request has too many distinct attribute keys');
  }
}

/** @throws DomainError `malformed` beyond {@link MAX_DEPTH} */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new DomainError('malformed', `an attribute value is nested deeper than ${MAX_DEPTH} levels`);
}

export function plainDouble(value: number): number | string {
  // + 0 turns -0 into 0, which JSON cannot tell apart either
  return Number.isFinite(value) ? value + 0 : String(value);
}
