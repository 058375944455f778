import { expect } from 'chai';
import type { MetricOutcome } from '../../src/features/comparisons/comparison.js';
import { NONE_LEFT_OUT } from '../../src/features/comparisons/comparison.js';
import type { Comparison } from '../../src/features/comparisons/comparison-store.js';
import { DomainError } from '../../src/engine/errors.js';
import { Arm } from '../../src/features/comparisons/pairing.js';
import { outcomesOf } from '../../src/features/comparisons/gate.js';
import { toJUnit } from '../../src/features/comparisons/reports/junit.js';
import { toMarkdown } from '../../src/features/comparisons/reports/markdown.js';
import { outcomeOf } from '../../src/features/comparisons/outcome.js';
import { counted, metric, paired, result } from './paired.js';

type Results = ReturnType<typeof result>[];
const numbers = (name: string, values: readonly number[]): Results =>
  values.map((value, index) => result(`row ${index}`, { [name]: value }));
const costs = (values: readonly (number | null)[]): Results =>
  values.map((cost, index) => result(`row ${index}`, {}, { cost }));
const cost = (more: Parameters<typeof metric>[1] = {}) =>
  metric('cost', { measure: 'sum', direction: 'lower', ...more });
const first = (outcome: { readonly metrics: readonly MetricOutcome[] }) => outcome.metrics[0]!;

describe('rules of comparisons', () => {
  it('the checked example: 412 pairs, 31 wins and 57 losses', () => {
    const { candidate, baseline } = counted('correct', { wins: 31, losses: 57, neither: 324 });
    const { verdict, because, metrics } = outcomeOf(paired([metric('correct')], candidate, baseline));
    expect(verdict).to.equal('failed');
    const [found] = metrics;
    expect(found).to.deep.include({ rows: 412, wins: 31, losses: 57, ties: 324, test: 'mcnemar_mid_p' });
    expect(found!.difference!.value).to.be.closeTo(-0.063, 5e-4);
    expect(found!.difference!.interval!.low).to.be.closeTo(-0.108, 5e-4);
    expect(found!.difference!.interval!.high).to.be.closeTo(-0.019, 5e-4);
    expect(found!.p).to.be.closeTo(0.0055, 5e-5);
    expect(found!.adjusted_p).to.equal(found!.p);
    expect(because).to.deep.equal([
      'correct: 7.5%, before 13.8%, -6.3 points (-10.8 points to -1.9 points); 31 wins, 57 losses, 324 ties. ' +
        'It is worse (p 0.0055). 412 rows would show a true change of 6.4 points in four of five cases.',
    ]);
  });

  it('not_worse passes within the margin, fails when all of it is worse, and is undecided between', () => {
    const verdictOf = (margin: number, counts: Parameters<typeof counted>[1]) => {
      const { candidate, baseline } = counted('correct', counts);
      const rule = metric('correct', { rule: 'not_worse', margin: { absolute: margin } });
      return first(outcomeOf(paired([rule], candidate, baseline)));
    };
    const worse = { both: 200, wins: 31, losses: 57, neither: 124 };
    expect(verdictOf(0.12, worse).verdict).to.equal('passed');
    expect(verdictOf(0.1, worse).verdict).to.equal('failed');
    const few = verdictOf(0.03, { both: 30, wins: 2, losses: 3, neither: 5 });
    expect(few.verdict).to.equal('undecided');
    expect(few.rows_for_margin).to.be.within(1_080, 1_100);
    expect(few.because).to.match(/margin of 3\.0 points; about 1,09\d rows would show it/);
    expect(verdictOf(0.03, { both: 30, wins: 20, losses: 1, neither: 5 }).verdict).to.equal('passed');
  });

  it('a margin may be a share of the baseline', () => {
    const rule = metric('rate', { measure: 'number', rule: 'not_worse', margin: { share: 0.1 } });
    const before = Array.from({ length: 60 }, (_, index) => 4 + (index % 3));
    const after = before.map((value, index) => value - (index % 2 === 0 ? 0.3 : 0.1));
    const found = first(outcomeOf(paired([rule], numbers('rate', after), numbers('rate', before))));
    expect(found.margin_of_difference).to.be.closeTo(0.5, 1e-9);
    expect(found.verdict).to.equal('passed');
    expect(found.difference!.interval!.high).to.be.below(0);
  });

  it('costs are compared as sums, in which less is better', () => {
    const before = Array.from({ length: 80 }, (_, index) => 0.01 + (index % 7) / 1_000);
    const dearer = before.map((value, index) => value * (1.2 + (index % 5) / 50));
    const dear = first(
      outcomeOf(paired([cost({ rule: 'not_worse', margin: { share: 0.1 } })], costs(dearer), costs(before))),
    );
    expect(dear.verdict).to.equal('failed');
    expect(dear).to.include({ test: 'sign_flip', wins: 0, losses: 80 });
    expect(dear.difference!.relative).to.equal(true);
    expect(dear.difference!.value).to.be.closeTo(0.24, 0.01);
    expect(dear.candidate.sum).to.be.closeTo(dearer.reduce((sum, value) => sum + value), 1e-9); // prettier-ignore
    expect(first(outcomeOf(paired([cost()], costs(before), costs(dearer)))).verdict).to.equal('passed');
    // A tenth of a cent a row, of some 1.3.
    const absolute = cost({ rule: 'not_worse', margin: { absolute: 0.001 } });
    expect(first(outcomeOf(paired([absolute], costs(dearer), costs(before)))).margin_of_difference).to.be.closeTo(
      0.077,
      1e-3,
    );
  });

  it('rows without a cost are left out, and free ones have no share', () => {
    const found = first(outcomeOf(paired([cost()], costs([1, null, 3]), costs([1, 2, null]))));
    expect(found).to.deep.include({ rows: 1, left_out: { no_value: 2, error: 0 }, verdict: 'undecided' });
    expect(first(outcomeOf(paired([cost()], costs([1, 2]), costs([0, 0]))))).to.include({
      difference: null,
      verdict: 'undecided',
    });
  });

  it('at_least looks at the candidate alone', () => {
    const of = (value: number, direction: 'higher' | 'lower' = 'higher') => {
      const { candidate, baseline } = counted('correct', { both: 90, neither: 10 });
      return first(outcomeOf(paired([metric('correct', { rule: 'at_least', value, direction })], candidate, baseline)));
    };
    expect(of(0.8).verdict).to.equal('passed');
    expect(of(0.85).verdict).to.equal('undecided');
    expect(of(0.95).verdict).to.equal('failed');
    expect(of(0.95, 'lower').verdict).to.equal('passed');
    expect(of(0.8).adjusted_p).to.equal(null);
    expect(of(0.8).because).to.contain('Its mean of 90.0% (82.6% to 94.5%) is at least 80.0%.');
  });

  it('several gated metrics share the chance of a false alarm, and reported ones have none', () => {
    const one = counted('a', { both: 300, wins: 20, losses: 36 });
    const named = (name: string, results: Results) => results.map((each) => ({ ...each, scores: { ...each.scores, [name]: each.scores['a']! } })); // prettier-ignore
    const both = { candidate: named('b', one.candidate), baseline: named('b', one.baseline) };
    const alone = outcomeOf(paired([metric('a')], one.candidate, one.baseline));
    expect(alone.verdict).to.equal('failed');
    const shared = outcomeOf(paired([metric('a'), metric('b')], both.candidate, both.baseline));
    expect(shared.metrics.map(({ adjusted_p }) => adjusted_p)).to.deep.equal(Array(2).fill(alone.metrics[0]!.p! * 2));
    expect(shared.verdict).to.equal('undecided');
    expect(shared.because[0]).to.contain('It looks worse, but that may be chance among 2 gated metrics');
    const reported = outcomeOf(paired([metric('a'), metric('b', { rule: 'report' })], both.candidate, both.baseline));
    expect(reported.verdict).to.equal('failed');
    expect(outcomeOf(paired([metric('a', { rule: 'report' })], one.candidate, one.baseline)).verdict).to.equal(
      'passed',
    );
  });

  it('repetitions of a row are averaged, and no rows of their own', () => {
    const twice = (a: boolean, b: boolean) =>
      Array.from({ length: 12 }, (_, row) => [a, b].map((value, index) => result(`row ${row}`, { ok: value }, { repetition: index + 1 }))).flat(); // prettier-ignore
    const found = first(outcomeOf(paired([metric('ok')], twice(true, false), twice(true, true))));
    expect(found).to.include({ rows: 12, losses: 12, test: 'sign_flip' });
    expect(found.candidate).to.deep.include({ mean: 0.5, interval: null });
    expect(found.p).to.be.closeTo(2 / 2 ** 12, 1e-12);
    expect(found.verdict).to.equal('failed');
  });

  it('errors count as the worst value, or are left out', () => {
    const candidate = [
      result('a', {}, { has_error: true }),
      result('b', { rate: 3, ok: true }),
      result('c', { rate: 2, ok: true }),
    ];
    const baseline = ['a', 'b', 'c'].map((id) => result(id, { rate: 4, ok: true }));
    const rate = (more = {}) => metric('rate', { measure: 'number', ...more });
    const values = (metrics: ReturnType<typeof metric>[], errors?: 'leave_out') =>
      paired(metrics, candidate, baseline, errors === undefined ? {} : { errors }).metrics;
    const counting = values([
      metric('ok'),
      rate(),
      rate({ min: 1 }),
      rate({ direction: 'lower' }),
      metric('error', { direction: 'lower' }),
    ]);
    expect(counting.map((each) => [...each.candidate])).to.deep.equal([[0, 1, 1], [2, 3, 2], [1, 3, 2], [4, 3, 2], [1, 0, 0]]); // prettier-ignore
    const [ok, error] = values([metric('ok'), metric('error', { direction: 'lower' })], 'leave_out');
    expect(ok).to.deep.include({ left_out: { no_value: 0, error: 1 } });
    expect([...ok!.candidate]).to.deep.equal([1, 1]);
    expect([...error!.candidate]).to.deep.equal([1, 0, 0]);
  });

  it('an error among repetitions counts as one of them', () => {
    const candidate = [result('a', { ok: true }), result('a', {}, { has_error: true, repetition: 2 })];
    const baseline = [result('a', { ok: true }), result('a', { ok: true }, { repetition: 2 })];
    expect([...paired([metric('ok')], candidate, baseline).metrics[0]!.candidate]).to.deep.equal([0.5]);
    const [without] = paired([metric('ok')], candidate, baseline, { errors: 'leave_out' }).metrics;
    expect([...without!.candidate]).to.deep.equal([1]);
  });

  it('categories have a table of moves', () => {
    const of = (values: readonly string[]) => values.map((tone, index) => result(`row ${index}`, { tone }));
    const before = of([...Array<string>(20).fill('calm'), ...Array<string>(20).fill('warm')]);
    const after = of([
      ...Array<string>(8).fill('calm'),
      ...Array<string>(12).fill('cold'),
      ...Array<string>(20).fill('warm'),
    ]);
    const found = first(outcomeOf(paired([metric('tone', { measure: 'category', rule: 'report' })], after, before)));
    expect(found).to.deep.include({ verdict: 'reported', ties: 28, test: 'stuart_maxwell', difference: null });
    expect(found.moves).to.deep.equal([{ from: 'calm', to: 'cold', rows: 12 }]);
    expect(found.p).to.be.closeTo(5.3e-4, 1e-5);
    expect(found.candidate.categories).to.deep.equal([{ category: 'warm', rows: 20 }, { category: 'cold', rows: 12 }, { category: 'calm', rows: 8 }]); // prettier-ignore
  });

  it('slices show where, and gate nothing', () => {
    const { candidate, baseline } = counted('ok', { both: 40, losses: 8, wins: 8, neither: 4 });
    const of = Int32Array.from(candidate, (_, row) => (row >= 40 && row < 56 ? (row < 48 ? 1 : 0) : -1));
    const slicings = [{ column: 'language', values: ['de', 'fr'], of }];
    const outcome = outcomeOf(paired([metric('ok')], candidate, baseline, { slicings }));
    expect(outcome.verdict).to.equal('passed');
    expect(first(outcome).slices.map(({ value, rows, wins, losses }) => [value, rows, wins, losses])).to.deep.equal([
      ['de', 8, 0, 8],
      ['fr', 8, 8, 0],
    ]);
    expect(first(outcome).slices[0]!.difference!.interval!.high).to.be.below(0);
  });

  it('slices of sums and numbers have intervals', () => {
    const before = Array.from({ length: 30 }, (_, index) => 0.01 + (index % 7) / 1_000);
    const after = before.map((value, index) => value * (1.05 + (index % 5) / 50));
    const slicings = [{ column: 'a', values: ['x'], of: new Int32Array(30) }];
    const found = first(outcomeOf(paired([cost()], costs(after), costs(before), { slicings })));
    const [slice] = found.slices;
    expect(slice!.difference!.value).to.be.closeTo(found.difference!.value, 1e-12);
    expect(slice!.difference!.interval!.low).to.be.closeTo(found.difference!.interval!.low, 0.003);
    expect(slice!.difference!.interval!.high).to.be.closeTo(found.difference!.interval!.high, 0.003);
  });

  it('the same seed gives the same answer, and few or equal rows no wrong one', () => {
    const rate = metric('rate', { measure: 'number' });
    const some = [numbers('rate', [1, 2, 5, 3, 4, 2]), numbers('rate', [2, 2, 4, 1, 1, 3])] as const;
    expect(outcomeOf(paired([rate], ...some))).to.deep.equal(outcomeOf(paired([rate], ...some)));
    const same = outcomeOf(paired([rate], some[0], some[0]));
    expect(first(same)).to.deep.include({ verdict: 'passed', p: 1, detectable: null });
    // The interval alone would call four rows a regression.
    const four = first(outcomeOf(paired([rate], numbers('rate', [1, 2, 3, 4]), numbers('rate', [2, 3.1, 4.2, 5]))));
    expect(four.difference!.interval!.high).to.be.below(0);
    expect(four).to.include({ verdict: 'undecided', p: 2 / 16 });
    expect(four.because).to.contain('It looks worse, but that may be chance of so few rows');
    expect(first(outcomeOf(paired([rate], [], []))).verdict).to.equal('undecided');
    expect(first(outcomeOf(paired([rate], numbers('rate', [1]), numbers('rate', [2])))).verdict).to.equal('undecided');
  });

  it('values too large to be compared are undecided under each rule, and no figure is without end', () => {
    const rules = [
      { rule: 'no_regression' },
      { rule: 'not_worse', margin: { absolute: 1e308 } },
      { rule: 'not_worse', margin: { share: 0.1 } },
      { rule: 'at_least', value: 0 },
    ] as const;
    const steady = Array.from({ length: 30 }, (_, index) => 1 + (index % 3));
    for (const large of [1e308, -1e308, 1e101])
      for (const measure of ['number', 'sum'] as const)
        for (const rule of rules) {
          const values = steady.map((value, index) => (index % 2 === 0 ? large : value));
          const named = (of: readonly number[]) => (measure === 'sum' ? costs(of) : numbers('rate', of));
          const asked = metric(measure === 'sum' ? 'cost' : 'rate', { measure, ...rule });
          const outcome = outcomeOf(paired([asked], named(values), named(steady)), 200);
          expect(first(outcome)).to.deep.include({ verdict: 'undecided', rows: 15 });
          expect(first(outcome).left_out.too_large).to.equal(15);
          expect(outcome.because[0]).to.contain('15 rows left out: Its values are too large to be compared.');
          expect(finiteIn(outcome), JSON.stringify(outcome)).to.equal(true);
        }
  });

  it('a definition without end makes errors undecided, and none is lost', () => {
    const candidate = Array.from({ length: 9 }, (_, row) => result(`${row}`, row === 0 ? {} : { rate: 4 }, { has_error: row === 0 })); // prettier-ignore
    const baseline = candidate.map(({ row_id }) => result(row_id, { rate: 4 }));
    const rate = metric('rate', { measure: 'number', min: -1e308 });
    expect(first(outcomeOf(paired([rate], candidate, baseline)))).to.include({ verdict: 'undecided', rows: 8 });
  });

  it('figures that overflow on the way pass no gate', () => {
    const tiny = costs([1e-300, 2e-300, 1e-300, 3e-300, 1e-300, 2e-300]);
    const huge = costs([1e99, 1e99, 1e98, 1e99, 1e97, 1e99]);
    for (const more of [{}, { rule: 'not_worse', margin: { absolute: 1e10 } }] as const) {
      const outcome = outcomeOf(paired([cost(more)], huge, tiny), 200);
      expect(first(outcome).verdict).to.equal('undecided');
      expect(finiteIn(outcome), JSON.stringify(outcome)).to.equal(true);
    }
    // The margin alone has no end as a share.
    const same = outcomeOf(paired([cost({ rule: 'not_worse', margin: { absolute: 1e20 } })], tiny, tiny.slice().reverse()), 200); // prettier-ignore
    expect(first(same)).to.deep.include({ verdict: 'undecided', margin_of_difference: null });
    expect(first(same).because).to.contain('The margin is too large beside the baseline');
  });

  it('one metric without a probability spoils no other', () => {
    const figures = first(outcomeOf(paired([metric('a')], ...arms(counted('a', { both: 300, wins: 10, losses: 56 })))));
    const without = { ...figures, name: 'b', p: NaN, difference: { ...figures.difference!, interval: { low: NaN, high: NaN } } }; // prettier-ignore
    const [good, bad] = outcomesOf([figures, without]);
    expect([good!.verdict, bad!.verdict]).to.deep.equal(['failed', 'undecided']);
    expect(bad).to.deep.include({ p: null, adjusted_p: null, difference: { ...figures.difference!, interval: null } });
    const [passing] = outcomesOf([{ ...figures, p: null, difference: { ...figures.difference!, interval: { low: 0, high: 1 } } }]); // prettier-ignore
    expect(passing!.verdict).to.equal('undecided');
    const unbounded = { ...figures.candidate, mean: NaN, interval: null };
    const [atLeast] = outcomesOf([{ ...figures, rule: 'at_least', value: 0.1, candidate: unbounded }]);
    expect(atLeast!.verdict).to.equal('undecided');
  });

  it('values and categories of fewer than five rows are not named', () => {
    const of = (values: readonly string[]) => values.map((tone, index) => result(`row ${index}`, { tone }));
    const before = of([...Array<string>(20).fill('calm'), 'Ada of Kent', 'Bob']);
    const after = of([...Array<string>(18).fill('calm'), 'Cy', 'Bob', 'Bob', 'calm']);
    const slicings = [{ column: 'name', values: ['all', 'Ada'], of: Int32Array.from(before, (_, row) => (row < 4 ? 1 : 0)) }]; // prettier-ignore
    const asked = [metric('tone', { measure: 'category', rule: 'report' }), metric('error', { rule: 'report' })];
    const outcome = outcomeOf(paired(asked, after, before, { slicings }));
    expect(JSON.stringify(outcome)).not.to.match(/Ada|Bob|Cy/);
    expect(first(outcome).moves).to.deep.equal([
      { from: 'calm', to: '(others)', rows: 2 },
      { from: '(others)', to: 'calm', rows: 1 },
    ]);
    expect(first(outcome).baseline.categories).to.deep.equal([{ category: 'calm', rows: 20 }, { category: '(others)', rows: 2 }]); // prettier-ignore
    expect(outcome.metrics[1]!.slices.map(({ value }) => value)).to.deep.equal(['all']);
  });

  it('a row has so many results and no more, and others than those of the version take no place', () => {
    const of = (id: string, count: number) => Array.from({ length: count }, () => result(id, { ok: true }));
    const arm = new Arm(new Map([['a', 0]]), [metric('ok')], { errors: 'leave_out', categories: [new Map()] });
    arm.add(of('stray', 20_000));
    arm.add(of('a', 10_000));
    expect(() => arm.add(of('a', 1))).to.throw(DomainError, 'A row with more than 10000 results');
  });

  it('reports bound numbers, and take no text for a link or a command', () => {
    const name = 'see https://evil.example/x www.evil.example a@evil.example\u001b[31m\u202e';
    const values = Array.from({ length: 12 }, (_, index) => 1e99 + index * 1e97);
    const found = { ...outcomeOf(paired([metric(name, { measure: 'number' })], numbers(name, values), numbers(name, values)), 100), rows: 12, left_out: NONE_LEFT_OUT }; // prettier-ignore
    const arm = { id: '', name, dataset_version: 1, tag: null };
    const comparison = { id: '', dataset: { id: '', name }, candidate: arm, baseline: arm, verdict: found.verdict, found } as unknown as Comparison; // prettier-ignore
    const markdown = toMarkdown(comparison);
    expect(markdown).not.to.match(/https:|www\.|@evil|[\u001b\u202e]/);
    expect(markdown)
      .to.contain('E99')
      .and.not.to.match(/[\d,]{20}/);
    expect(toJUnit(comparison)).not.to.match(/[\u001b\u202e]|[\d,]{20}/);
  });
});

const arms = ({ candidate, baseline }: ReturnType<typeof counted>) => [candidate, baseline] as const;

/** Whether JSON keeps each number. */
function finiteIn(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(finiteIn);
}
