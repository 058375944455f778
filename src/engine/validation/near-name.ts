import { distance } from 'fastest-levenshtein';

/** Longer names are compared with nothing: no name of ours is nearly as long. */
const MAX_LENGTH = 64;
/** Names that differ in more than this share of their characters are different words. */
const MAX_DIFFERENCE = 0.4;
/** Shorter names, such as `id`, are a part of too many others. */
const MIN_PART = 3;

interface Spelling {
  readonly name: string;
  /** Lower case, without what separates words. */
  readonly plain: string;
  readonly words: readonly string[];
}

/**
 * The known name that the sender of an unknown one probably meant: the same except for case and separators, else the most alike,
 * else one whose words are all among the words of the unknown one (`base_version` of `version`), or the other way round.
 */
export function nearName(unknown: string, known: Iterable<string>): string | null {
  if (unknown.length > MAX_LENGTH) return null;
  const wanted = spellingOf(unknown);
  let best: { readonly name: string; readonly difference: number } | null = null;
  for (const name of known) {
    const difference = differenceOf(wanted, spellingOf(name));
    if (difference < (best?.difference ?? Infinity)) best = { name, difference };
  }
  return best?.name ?? null;
}

/** From 0, the same name, to 1; from there on one is a part of the other. Infinite for names that have nothing in common. */
function differenceOf(wanted: Spelling, known: Spelling): number {
  const longer = Math.max(wanted.plain.length, known.plain.length);
  const share = distance(wanted.plain, known.plain) / longer;
  if (share <= MAX_DIFFERENCE) return share;
  return isPart(known, wanted) || isPart(wanted, known) ? 1 + share : Infinity;
}

function isPart(part: Spelling, whole: Spelling): boolean {
  return part.plain.length >= MIN_PART && part.words.every((word) => whole.words.includes(word));
}

function spellingOf(name: string): Spelling {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return { name, plain: words.join(''), words };
}
