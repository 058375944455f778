import { isAscii, isUtf8 } from 'node:buffer';
import { DomainError } from '../../engine/errors.js';
import { beyondBound, exceededBound, MAX_JSON_DEPTH } from '../../engine/json-text.js';
import { free } from './freed.js';

/**
 * Parses a JSON body. A `__proto__` member stays an ordinary own property.
 * @throws DomainError `malformed`, with the position where that is known; `too_large` beyond a bound of JSON
 */
export function parseJson(bytes: Buffer, maxDepth = MAX_JSON_DEPTH): unknown {
  if (bytes.length === 0) throw new DomainError('malformed', 'The body is empty; expected JSON');
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new DomainError('malformed', 'The body is not valid UTF-8');
  // For ASCII it is the same text, made by copying bytes instead of decoding them.
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  const bound = exceededBound(text, maxDepth);
  if (bound === 'depth') throw new DomainError('malformed', `The JSON ${beyondBound(bound, maxDepth)}`);
  if (bound !== null) throw new DomainError('too_large', `The JSON ${beyondBound(bound)}: send smaller batches`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : '');
    // V8's message quotes the body; the position alone helps as much.
    const where = position === null ? ': it is truncated or not JSON' : ` ${position[0]}`;
    throw new DomainError('malformed', `The body is not valid JSON${where}`, { cause: error });
  }
}

/** Parses JSON as {@link parseJson} does, and frees its bytes at once. */
export function parseAndFree(bytes: Buffer, maxDepth = MAX_JSON_DEPTH): unknown {
  const value = parseJson(bytes, maxDepth);
  free(bytes);
  return value;
}
