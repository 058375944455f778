import { createRequire } from 'node:module';
import { endsThere, startsAfresh, type Finder } from './finder.js';

// The whole library has a hundred modules that are not needed here.
const { default: isIban } = createRequire(import.meta.url)('validator/lib/isIBAN.js') as {
  readonly default: (text: string) => boolean;
};

const CANDIDATE = /[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}/g;

/** Finds IBANs: with the length of their country and the right check digits, together or in groups. */
export const findIbans: Finder = (text, found) => {
  CANDIDATE.lastIndex = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const start = match.index;
    const end = startsAfresh(text, start) ? ibanEnd(text, start, start + match[0].length) : start;
    if (end > start) found(start, end, canonical(text.slice(start, end)));
    // What follows a word that only looks like the beginning of one may be one.
    CANDIDATE.lastIndex = end > start ? end : start + 4;
  }
};

/** Words may follow an IBAN in groups: it ends with the group that makes it right. @returns `start` where there is none */
function ibanEnd(text: string, start: number, end: number): number {
  for (let last = end; last > start + 14; last -= 1)
    if (
      endsThere(text, last) &&
      /[A-Za-z0-9]/.test(text.charAt(last - 1)) &&
      isIban(canonical(text.slice(start, last)))
    )
      return last;
  return start;
}

function canonical(text: string): string {
  return text.replace(/[ -]/g, '').toUpperCase();
}
