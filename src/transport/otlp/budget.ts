import { DomainError } from '../../domain/errors.js';

/** Values nested deeper than this are refused: no exporter nests so deep, and recursion must end. */
export const MAX_DEPTH = 64;

/**
 * Spans, events, links, attributes and list elements in one request. An empty message is two bytes on the wire and a
 * hundred in memory, so the size of a body alone does not bound what decoding it takes.
 */
export const MAX_NODES = 1_000_000;

/** Counts what decoding one request creates. */
export class Budget {
  #left = MAX_NODES;

  /** @throws DomainError `too_large` when the request holds more than {@link MAX_NODES} parts */
  spend(): void {
    if (--this.#left < 0) {
      throw new DomainError(
        'too_large',
        `the request holds more than ${MAX_NODES} spans, events, links and attributes: send smaller batches`,
      );
    }
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
