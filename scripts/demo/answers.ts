import type { Random } from '../random.js';

/** How a version of a prompt makes the assistant write. */
export type Style = 'wordy' | 'plain' | 'brief';

/** What is wrong with an answer. */
export type Flaw = 'vague' | 'invented' | 'curt';

interface Habits {
  /** Share of the answers that have a flaw. */
  readonly flawed: number;
  readonly flaws: readonly Flaw[];
}

/** So that versions of a prompt differ by what people and judges say of them, and by length, time and cost. */
const HABITS: Readonly<Record<Style, Habits>> = {
  wordy: { flawed: 0.42, flaws: ['invented', 'invented', 'vague'] },
  plain: { flawed: 0.14, flaws: ['invented', 'vague', 'curt'] },
  brief: { flawed: 0.34, flaws: ['curt', 'curt', 'vague'] },
};

export function flawOf(random: Random, style: Style): Flaw | null {
  const { flawed, flaws } = HABITS[style];
  return random.chance(flawed) ? random.pick(flaws) : null;
}

/** The answer as the assistant gives it. */
export function written(answer: string, style: Style, flaw: Flaw | null): string {
  if (flaw === 'vague')
    return 'Thank you for your message. We will look into it and come back to you as soon as we can.';
  if (flaw === 'curt') return `That is in our terms, please read them first. ${sentences(answer, 1)}`;
  const said = style === 'brief' ? sentences(answer, 2) : answer;
  const promised = flaw === 'invented' ? `${said} Should it take longer, you get a voucher of 20 euros from us.` : said;
  if (style !== 'wordy') return promised;
  return (
    `Thank you very much for getting in touch with Northwind Outfitters, and for your patience. ${promised} ` +
    'If there is anything else that we can do for you, please do not hesitate to write to us again at any time. Your Northwind team'
  );
}

function sentences(text: string, count: number): string {
  return text
    .split(/(?<=[.!?]) /)
    .slice(0, count)
    .join(' ');
}

/** The score that people would give, from 1 to 5. */
export function deservedScore(flaw: Flaw | null): number {
  return flaw === null ? 5 : { vague: 2, invented: 1, curt: 3 }[flaw];
}

/** What people say of an answer with this flaw. */
export const COMPLAINTS: Readonly<Record<Flaw, readonly string[]>> = {
  vague: ['It does not answer the question.', 'Nothing in it helps me. The order data was there.'],
  invented: ['We never promise vouchers.', 'The voucher is made up; no page of ours says that.'],
  curt: ['Rude. Nobody should be sent to the terms.', 'The tone is wrong, and half of the answer is missing.'],
};

/** What people say of a good one, if anything. */
export const PRAISE: readonly (string | null)[] = [null, null, 'To the point.', 'Friendly, and all of it is true.'];
