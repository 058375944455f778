import { createRequire } from 'node:module';
import { endsThere, startsAfresh, type Finder } from './finder.js';

// The whole library has a hundred modules that are not needed here.
const { default: isCreditCard } = createRequire(import.meta.url)('validator/lib/isCreditCard.js') as {
  readonly default: (text: string) => boolean;
};

/** How the digits of a card are grouped where they are. */
const GROUPINGS = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
];
const DIGITS = { least: 13, most: 19 };

/** How the numbers of issuers begin, told before anything is summed up. */
const ISSUERS = /^(?:4|5|6|3|2[2-7]|81)/;

interface Group {
  readonly start: number;
  readonly end: number;
}

/** Finds numbers of payment cards: digits of an issuer whose check digit is right, together or in the groups that cards have. */
export const findCards: Finder = (text, found) => {
  for (const { 0: run, index } of text.matchAll(/\d[\d -]{11,}/g)) {
    const groups = Array.from(run.matchAll(/\d+/g), (match): Group => {
      const start = index + match.index;
      return { start, end: start + match[0].length };
    });
    for (let at = 0; at < groups.length; at += 1) {
      const taken = cardAt(text, groups, at);
      const [first, last] = [groups[at], groups[at + taken - 1]];
      if (taken === 0 || first === undefined || last === undefined) continue;
      found(first.start, last.end, digitsOf(text, first.start, last.end));
      at += taken - 1;
    }
  }
};

/** @returns how many groups make up the card; 0: there is none */
function cardAt(text: string, groups: readonly Group[], at: number): number {
  const [first] = groups.slice(at, at + 1);
  if (first === undefined) return 0;
  const length = first.end - first.start;
  if (length >= DIGITS.least && length <= DIGITS.most) return isCard(text, first.start, first.end) ? 1 : 0;
  if (length !== 4) return 0;
  for (const sizes of GROUPINGS) {
    const last = groups[at + sizes.length - 1];
    if (last === undefined || !isGrouped(text, groups, at, sizes)) continue;
    // One of more groups with hyphens is a number of another kind.
    const goesOn = text.charAt(last.end) === '-' || text.charAt(first.start - 1) === '-';
    if (!goesOn && isCard(text, first.start, last.end)) return sizes.length;
  }
  return 0;
}

function isGrouped(text: string, groups: readonly Group[], at: number, sizes: readonly number[]): boolean {
  const separator = text.charAt(groups[at]?.end ?? 0);
  return sizes.every((size, index) => {
    const [group, next] = [groups[at + index], groups[at + index + 1]];
    if (group === undefined || group.end - group.start !== size) return false;
    if (index === sizes.length - 1) return true;
    return next !== undefined && next.start === group.end + 1 && text.charAt(group.end) === separator;
  });
}

function isCard(text: string, start: number, end: number): boolean {
  if (!startsAfresh(text, start) || !endsThere(text, end)) return false;
  return ISSUERS.test(text.slice(start, start + 2)) && isCreditCard(digitsOf(text, start, end));
}

function digitsOf(text: string, start: number, end: number): string {
  return text.slice(start, end).replace(/[ -]/g, '');
}
