import { createRequire } from 'node:module';
import type { CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { endsThere, startsAfresh, type Finder } from './finder.js';

/** Numbers with the code of their country. */
const INTERNATIONAL = /\+(?:[ ().\/-]{0,2}\d){7,15}/g;
/** Numbers with the prefix of their country's trunk lines. */
const TRUNK = /\(?0\d?\)?(?:[ ().\/-]{0,2}\d){6,12}/g;
/** Numbers as North America writes them. */
const NORTH_AMERICAN = /(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}/g;
/** Numbers in groups. Dates and versions have other separators. */
const GROUPED = /[1-9]\d{1,3}(?: \d{2,4}){2,4}/g;

/** So many candidates of a text are looked up; what there is beyond them is taken for numbers. */
const MAX_LOOKED_UP = 1_000;

type Parse = typeof parsePhoneNumberFromString;

/** Loaded once a project has such a rule: the plans of all countries take a while. */
let parse: Parse | null = null;

function loaded(): Parse {
  if (parse === null) {
    const require = createRequire(import.meta.url);
    parse = (require('libphonenumber-js/min') as { parsePhoneNumberFromString: Parse }).parsePhoneNumberFromString;
  }
  return parse;
}

/** Whether there is such a country, as ISO 3166 names it. */
export function isCountry(code: string): boolean {
  const require = createRequire(import.meta.url);
  const { isSupportedCountry } = require('libphonenumber-js/min') as { isSupportedCountry: (code: string) => boolean };
  return isSupportedCountry(code);
}

/** Countries whose numbers begin with their 1. */
const OF_NORTH_AMERICA = new Set(['US', 'CA', 'PR', 'DO', 'JM', 'BS', 'BB', 'TT']);

/**
 * Finds phone numbers that the numbering plan of their country has: those with a `+` of every country, others of some.
 * @param countries where numbers without a country code are from
 */
export function phoneFinder(countries: readonly string[]): Finder {
  const isNorthAmerican = countries.some((country) => OF_NORTH_AMERICA.has(country));
  const isElsewhere = countries.some((country) => !OF_NORTH_AMERICA.has(country));
  const shapes = [
    { shape: INTERNATIONAL, of: [undefined] },
    ...(isNorthAmerican ? [{ shape: NORTH_AMERICAN, of: countries.filter((each) => OF_NORTH_AMERICA.has(each)) }] : []),
    ...(isElsewhere
      ? [TRUNK, GROUPED].map((shape) => ({ shape, of: countries.filter((each) => !OF_NORTH_AMERICA.has(each)) }))
      : []),
  ];
  return (text, found) => {
    const numbers: { start: number; end: number; value: string }[] = [];
    const looked = { up: 0 };
    for (const { shape, of } of shapes)
      for (const { 0: candidate, index } of text.matchAll(shape)) {
        const start = index;
        const end = index + candidate.length;
        const before = text.charAt(start - 1);
        if (!startsAfresh(text, start) || '+-/'.includes(before || ' ') || !endsThere(text, end)) continue;
        if (text.charAt(end) === '-' && /\d/.test(text.charAt(end + 1))) continue;
        const value = numberOf(candidate, of, looked);
        if (value !== null) numbers.push({ start, end, value });
      }
    numbers.sort((one, other) => one.start - other.start);
    let from = 0;
    for (const { start, end, value } of numbers) {
      if (start < from) continue;
      found(start, end, value);
      from = end;
    }
  };
}

/** The number as the whole world writes it; null: there is none like it. */
function numberOf(
  candidate: string,
  countries: readonly (string | undefined)[],
  looked: { up: number },
): string | null {
  for (const country of countries) {
    looked.up += 1;
    if (looked.up > MAX_LOOKED_UP) return candidate.replace(/\D/g, '');
    const number = loaded()(candidate, country as CountryCode | undefined);
    if (number?.isValid() === true) return number.number;
  }
  return null;
}
