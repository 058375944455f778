import type { ShapedSpan } from './shapes.js';

/** Characters of a name that an outline shows. */
export const MAX_NAME = 100;
/** Kinds that a count of spans names. */
const KINDS_NAMED = 3;

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A span in a line: `tool search (1.2 s, error)`. */
export function spanWords({ kind, name, duration_ms, failed }: ShapedSpan): string {
  const about = [...(duration_ms === null ? [] : [duration(duration_ms)]), ...(failed ? ['error'] : [])];
  return `${kind} ${inOneLine(name)}${about.length === 0 ? '' : ` (${about.join(', ')})`}`;
}

/** The same for a reader who may ask for more of it by its id. */
export function namedSpanWords(span: ShapedSpan): string {
  return `${spanWords(span)} ${span.id}`;
}

/** How many spans there are of which kinds: ` (tool 200, llm 40)`. */
export function kindWords(kinds: ReadonlyMap<string, number>): string {
  const most = [...kinds].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const named = most.slice(0, KINDS_NAMED).map(([kind, count]) => `${kind} ${count.toLocaleString('en-US')}`);
  const others = most.slice(KINDS_NAMED).reduce((sum, [, count]) => sum + count, 0);
  const all = others === 0 ? named : [...named, `others ${others.toLocaleString('en-US')}`];
  return all.length === 0 ? '' : ` (${all.join(', ')})`;
}

/** A name without line breaks, which would make lines of their own, and no longer than is shown. */
function inOneLine(name: string): string {
  const line = name.slice(0, 10 * MAX_NAME).replaceAll(/[\s\u0085]+/gu, ' ');
  return line.length <= MAX_NAME ? line.toWellFormed() : `${line.slice(0, MAX_NAME - 1).toWellFormed()}…`;
}

function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })} s`;
}
