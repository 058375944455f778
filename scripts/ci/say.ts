import { printable } from '../output.js';

/** How often the server is asked how far it is. */
export const POLL_MS = 2_000;

/** Tells people something, in which there may be words of others. */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
