import { Random } from '../scripts/random.js';
import { Masker } from '../src/features/masking/masker.js';
import { processorMs } from '../src/features/masking/patterns/effort.js';
import type { MaskingRule } from '../src/features/masking/rule.js';
import { figure } from './figures.js';
import { personName, prose, reference } from './prose.js';

/** Length of the texts, in characters. */
const LENGTH = 100_000;
/** As many times each is masked first: what is not compiled yet is slow. */
const WARMED = 20;
const REPETITIONS = 100;

export const TEXT_COLUMNS = ['rule', 'prose, ms', 'messages as JSON, ms', 'log lines, ms', 'values in each line, ms'];

const EXPRESSION = { type: 'expression', expression: '\\bCUST-[0-9]{6}\\b' } as const;
const PATH = { type: 'path', path: '$.input_data..role' } as const;

const named = (rule: Partial<MaskingRule> & Pick<MaskingRule, 'type'>): MaskingRule => ({
  ...{ name: rule.type, action: 'replace', expression: null, path: null, countries: null },
  ...rule,
});

/** What each kind of rule takes for a text of 100,000 characters of each kind, alone. */
export function measureTexts(): string[][] {
  const texts = textsToMask(new Random(1));
  const rules = [
    ...(['email', 'phone', 'card', 'iban', 'api_key'] as const).map((type) => ({ type })),
    EXPRESSION,
    PATH,
  ];
  return rules.map((rule) => {
    const masker = new Masker({ version: 1, rules: [named(rule)], key: Buffer.alloc(32) });
    const name =
      'expression' in rule ? `expression ${rule.expression}` : 'path' in rule ? `path ${rule.path}` : rule.type;
    return [name, ...texts.map((text) => figure(msOf(masker, text)))];
  });
}

/** @returns milliseconds of this thread's processor time for a text, on average */
function msOf(masker: Masker, text: string): number {
  const maskTimes = (count: number) => {
    // Another text each time: nothing is remembered of it.
    for (let number = 0; number < count; number += 1) masker.mask({ input_data: `${text}${number}` });
  };
  maskTimes(WARMED);
  const began = processorMs();
  maskTimes(REPETITIONS);
  return (processorMs() - began) / REPETITIONS;
}

function textsToMask(random: Random): string[] {
  const messages: { role: string; content: string }[] = [];
  for (let length = 0; length < LENGTH; length += 1_040)
    messages.push({ role: messages.length % 2 === 0 ? 'user' : 'assistant', content: prose(random, 1_000) });
  const lines = (lineOf: (number: number) => string) => {
    let text = '';
    for (let number = 0; text.length < LENGTH; number += 1) text += `${lineOf(number)}\n`;
    return text.slice(0, LENGTH);
  };
  return [
    prose(random, LENGTH),
    JSON.stringify(messages),
    lines(
      (n) => `2026-11-${10 + (n % 20)}T12:00:${10 + (n % 50)}.${100 + n}Z INFO ${reference(random)} took ${n}.5 ms`,
    ),
    lines(
      (n) =>
        `${personName(random)} <user.${n}@example.com> +1 415 555 ${1000 + n} 4111 1111 1111 1111 ${prose(random, 100)}`,
    ),
  ];
}
