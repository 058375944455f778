import { printable } from '../output.js';

/** Tells people something, in which there may be words of others. */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
