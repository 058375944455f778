import { expect } from 'chai';
import { afterCorrection, kappaNote, perCallNote, versionNamed } from '../../src/console/model/judge-versions.js';

const versions = [
  { version: 'v1', prompt_version_id: 'a', examples: { from: 0, to: 0 } },
  { version: 'v2', prompt_version_id: 'a', examples: { from: 2, to: 4 } },
  { version: 'v3', prompt_version_id: 'b', examples: { from: 3, to: 3 } },
  { version: 'external', prompt_version_id: null, examples: null },
];

describe('versions of a judge in the console', () => {
  it('are found by what an evaluation says of itself', () => {
    const exact = ['a/none', 'a/e1', 'a/e4', 'b/e2', 'a/e5', 'c/e1', null];
    expect(exact.map((one) => versionNamed(versions, one))).to.deep.equal([
      ...['v1', 'v2', 'v2', 'v3'],
      ...[null, null, null],
    ]);
  });

  it('are named after a correction: the one that it counts for, and when the next begins', () => {
    const report = (revision: number | null, by_version = versions) => ({
      ...{ count: 4, rate: 0.5, kappa: null, kappa_version: 'v3' },
      revision,
      by_version,
    });
    const before = { ...report(3), count: 3, rate: 2 / 3 };
    expect(afterCorrection(before, report(4), 'a/e3')).to.equal(
      'Saved. It counts for v2, which made the verdict, from now on: with 4 corrections, agreement is 67% → 50%, κ of v3 –. ' +
        'Its next evaluation uses revision 4 of its corrections, still as v3; the next version starts at revision 5.',
    );
    expect(afterCorrection(undefined, report(5)))
      .to.include('agreement is 50%')
      .and.match(/starts its next version\.$/);
    expect(afterCorrection(undefined, report(1, versions.slice(0, 1)), null)).to.match(/revision 1 .* next version\.$/);
    expect(afterCorrection(undefined, report(null))).to.include('JUDGE_EXAMPLE_TOKENS');
  });

  it('say which of them the κ of the judge is of', () => {
    const of = { kappa_version: 'v2', kappa: 0.8, kappa_of_all: 0.4 };
    expect(kappaNote(of)).to.equal('of v2, its newest version; all versions: 0.40');
    expect(kappaNote({ ...of, kappa: null })).to.include('with too few reviews');
    expect(kappaNote({ ...of, kappa_version: null })).to.include('No reviewed verdicts');
  });

  it('say what corrections add to a call', () => {
    const of = { corrections: 12, input_tokens: 1840, model: 'gpt-4o-mini', cost: 0.000276, cost_unknown_reason: null };
    expect(perCallNote(of)).to.equal('12 corrections add about 1,840 tokens to each call, $0.00028 with gpt-4o-mini.');
    expect(perCallNote({ ...of, corrections: 1, cost: null })).to.equal(
      '1 correction adds about 1,840 tokens to each call; the price of gpt-4o-mini is unknown.',
    );
    expect(perCallNote({ ...of, model: null, cost: null })).to.match(/each call\.$/);
    expect([perCallNote(null), perCallNote({ ...of, corrections: 0 })]).to.deep.equal([null, null]);
  });
});
