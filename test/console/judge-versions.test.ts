import { expect } from 'chai';
import { afterCorrection, versionNamed } from '../../src/ui/console/model/judge-versions.js';

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
      ...{ count: 4, rate: 0.5, kappa: null },
      revision,
      by_version,
    });
    const before = { ...report(3), count: 3, rate: 2 / 3 };
    expect(afterCorrection(before, report(4), 'a/e3')).to.equal(
      'Stored. It counts for v2, which made the verdict, in figures from now on: with 4 corrections people agree 67 % → 50 %, κ –. ' +
        'Its next evaluation is made with revision 4 of its corrections, still as v3; the next version begins at revision 5.',
    );
    expect(afterCorrection(undefined, report(5)))
      .to.include('people agree 50 %')
      .and.match(/begins its next version\.$/);
    expect(afterCorrection(undefined, report(1, versions.slice(0, 1)), null)).to.match(/revision 1 .* next version\.$/);
    expect(afterCorrection(undefined, report(null))).to.include('JUDGE_EXAMPLE_TOKENS');
  });
});
