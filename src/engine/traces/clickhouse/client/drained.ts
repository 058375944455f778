import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Resolves once an answer that no one reads is over: only then its connection can take the next statement. */
export async function drained(stream: Readable): Promise<void> {
  stream.resume();
  if (!stream.readableEnded) await once(stream, 'end');
}
