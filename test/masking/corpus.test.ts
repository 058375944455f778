import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Masker } from '../../src/features/masking/masker.js';
import { rulesOf } from '../../src/features/masking/rule-issues.js';
import type { RuleType } from '../../src/features/masking/rule.js';
import type { MaskingRuleInput } from '../../src/features/masking/schema.js';
import { HARMLESS, VALUES } from './corpus.js';

const MANUAL = 'src/http/manual/static/masking.md';

const maskerOf = (rules: readonly MaskingRuleInput[]) =>
  new Masker({ version: 1, key: Buffer.alloc(32, 1), rules: rulesOf(rules) });

/** A value in JSON, and in JSON in JSON. */
const JSON_WITH = [
  (value: string) => JSON.stringify({ a: [value], n: 1 }),
  (value: string) => JSON.stringify([`1\t${value}`, { a: JSON.stringify({ b: `\n${value}\n` }) }]),
];

describe('rules for personal data', () => {
  const types = Object.keys(VALUES) as RuleType[];

  for (const type of types)
    it(`find every ${type} of the corpus, wherever it stands`, () => {
      const masker = maskerOf([{ type }]);
      for (const value of VALUES[type] ?? []) {
        for (const around of [
          '',
          'Write to | today.',
          '(|)',
          '"|",',
          '|\nnext',
          'a,|;b',
          'ends with |.',
          '<|>',
          'x: |',
        ] as const) {
          const [before = '', after = ''] = around.split('|');
          expect(masker.maskText(before + value + after), value).to.equal(`${before}[${type}]${after}`);
        }
        for (const json of JSON_WITH) expect(masker.maskText(json(value)), value).to.equal(json(`[${type}]`));
      }
    });

  it('are as many in the manual as here', () => {
    const [, table = ''] = /<!-- corpus:start -->([^]*)<!-- corpus:end -->/.exec(readFileSync(MANUAL, 'utf8')) ?? [];
    const said = Array.from(table.matchAll(/^\| `?(\w+)`?.* \| +(\d+) +\| +(\d+) +\|$/gm), ([, type, ...counts]) => [
      type,
      ...counts.map(Number),
    ]);
    const all = types.map((type) => [type, VALUES[type]?.length, VALUES[type]?.length]);
    expect(said).to.deep.equal([...all, ['none', HARMLESS.length, 0]]);
  });

  it('find nothing in what is none', () => {
    const masker = maskerOf(types.map((type) => ({ type })));
    const found = HARMLESS.filter((text) =>
      [text, `see ${text}, then`, JSON.stringify({ a: text })].some((each) => masker.maskText(each) !== each),
    );
    expect(found).to.deep.equal([]);
  });

  it('find numbers of the countries that a rule names', () => {
    const numbers = {
      DE: ['030 901820', '0171 1234567', '030/901820', '(030) 901820', '01711234567'],
      FR: ['06 12 34 56 78', '01 42 68 53 00'],
      GB: ['020 7946 0018', '07911 123456'],
      ES: ['612 345 678'],
    };
    for (const [country, all] of Object.entries(numbers))
      for (const number of all) {
        expect(maskerOf([{ type: 'phone', countries: [country] }]).maskText(`T ${number}.`)).to.equal('T [phone].');
        expect(maskerOf([{ type: 'phone' }]).maskText(number), 'of another country').to.equal(number);
      }
  });

  it('give equal values equal hashes, however they are written, and others to another project', () => {
    const rules = types.map((type) => ({ type, action: 'hash' as const }));
    const masker = maskerOf(rules);
    const equal = [
      ['Anna@Example.com', 'anna@example.COM'],
      ['+1 415 555 2671', '(415) 555-2671'],
      ['4111 1111 1111 1111', '4111111111111111'],
      ['DE89 3704 0044 0532 0130 00', 'de89370400440532013000'],
    ];
    for (const [one = '', other = ''] of equal) {
      expect(masker.maskText(one)).to.match(/^\[[a-z]+:[0-9a-f]{16}\]$/);
      expect(masker.maskText(one)).to.equal(masker.maskText(other));
      const elsewhere = new Masker({ version: 1, key: Buffer.alloc(32, 2), rules: rulesOf(rules) });
      expect(elsewhere.maskText(one)).not.to.equal(masker.maskText(one));
    }
  });

  it('take time in proportion to the text, whatever it says', function () {
    this.timeout(20_000);
    const masker = maskerOf([...types.map((type) => ({ type })), { type: 'expression', expression: '(a+)+b|x*y' }]);
    const repeated = [
      'a@',
      '@',
      'a.',
      '1 ',
      '1',
      '+1 ',
      '(',
      'DE12 ',
      'eyJ-',
      'sk-',
      '-----BEGIN PRIVATE KEY',
      'aaaa',
      '"{',
      '[[',
      '\\n',
      '/',
    ];
    for (const part of repeated) {
      const text = part.repeat(100_000 / part.length);
      const began = process.cpuUsage();
      masker.maskText(text);
      const { user } = process.cpuUsage(began);
      // Quadratic time would be minutes.
      expect(user / 1000, part).to.be.lessThan(1_000);
    }
  });
});
