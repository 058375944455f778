import { DomainError } from '../engine/errors.js';
import type { Page } from '../engine/traces/model/list/lists.js';

/** Most bytes of listed objects that one answer is made of, in memory: a project may ask for several at once. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Where texts are shortened, longer ones have their middle left out. */
export const TEXT_LIMIT = 100_000;

/** The JSON of a page. @throws DomainError `too_large` */
export async function textOf({ json }: Pick<Page, 'json'>): Promise<string> {
  if (Buffer.isBuffer(json)) {
    requireSize(json.length);
    return json.toString();
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of json as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(piece as string);
    bytes += buffer.length;
    requireSize(bytes);
    pieces.push(buffer);
  }
  return Buffer.concat(pieces).toString();
}

function requireSize(bytes: number): void {
  if (bytes > MAX_ANSWER_BYTES)
    throw new DomainError('too_large', `The answer has more than ${MAX_ANSWER_BYTES} bytes: ask for fewer at once`);
}
