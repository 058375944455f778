import { expect } from 'chai';
import {
  JudgeFigureService,
  type CorrectionPlace,
  type SaidPortion,
} from '../../src/features/judge-figures/judge-figures.js';
import { calibrationOf } from '../../src/features/calibration/report.js';
import { truthsOf } from '../../src/features/calibration/truths.js';
import type { FeedbackContent } from '../../src/features/feedback/feedback.js';
import { SqliteJudgeCounts } from '../../src/features/judge-figures/store/judge-counts.js';
import { calibrationRead } from '../../src/features/calibration/http/routes.js';
import { JUDGE, JudgeFile, MONDAY } from './judge-file.js';

const MAX = Number.MAX_SAFE_INTEGER;
const WEEK = 7 * 86_400e6;

describe('what people said of evaluations', () => {
  let file: JudgeFile;
  let store: JudgeFile['store'];

  beforeEach(() => {
    file = new JudgeFile();
    store = file.store;
  });
  afterEach(() => {
    file.dispose();
  });

  const evaluate: JudgeFile['evaluate'] = (...of) => {
    file.evaluate(...of);
  };
  const say: JudgeFile['say'] = (...of) => file.say(...of);

  const all = () => store.between(JUDGE, 0, MAX);
  const report = (grouping: 'steps' | 'each' = 'steps') => calibrationOf(JUDGE, all(), store.versions(JUDGE), grouping);

  it('belongs to the latest evaluation of that moment, and stays with it when the span is evaluated again', () => {
    evaluate('a', true, 'pv1/none');
    say('a', false);
    evaluate('a', false, 'pv1/e1');
    say('a', true);
    expect(all().map(({ thumbs_up, evaluation }) => [thumbs_up, evaluation?.judge_version])).to.deep.equal([
      [false, 'pv1/none'],
      [true, 'pv1/e1'],
    ]);
    // The examples hold the newest one of the span alone, but both are new to them.
    expect(store.revision(JUDGE)).to.equal(2);
    expect(store.examples(JUDGE, 0, 10).map(({ revision }) => revision)).to.deep.equal([2, 1]);
  });

  it('is replaced when said again of the same evaluation; a retry changes nothing', () => {
    evaluate('a', true, 'pv1/none');
    say('a', false, 'ann', { reason: 'typo' });
    say('a', false, 'ann', { reason: 'typo' });
    expect(store.revision(JUDGE)).to.equal(1);
    say('a', true);
    expect(store.revision(JUDGE)).to.equal(2);
    expect(all()).to.have.length(1);
    expect(all()[0]).to.include({ thumbs_up: true });
    say('a', false, 'bob');
    expect(all()).to.have.length(2);
    expect(store.revision(JUDGE)).to.equal(3);
  });

  it('before there is an evaluation, is no example; said again afterwards, it is of that one', () => {
    say('a', false);
    expect(store.revision(JUDGE)).to.equal(0);
    expect(report()).to.deep.include({ count: 1, agreed: 0, rate: 0, without_evaluation: 1, kappa: null });
    expect(report().by_version).to.deep.equal([]);
    evaluate('a', true, 'pv1/none');
    say('a', false);
    expect(store.revision(JUDGE)).to.equal(1);
    expect(report()).to.deep.include({ count: 1, without_evaluation: 0 });
  });

  it('is no evidence for a version that had been told of the span', () => {
    evaluate('told', true, 'pv1/none');
    evaluate('late', true, 'pv1/none');
    say('told', false); // revision 1
    evaluate('told', false, 'pv1/e1');
    evaluate('new', false, 'pv1/e1');
    say('told', true); // revision 2: of an evaluation by e1, which knew of it
    say('new', true); // revision 3
    // Evaluated before anything was said of it, by a call that took its time.
    evaluate('slow', false, 'pv1/none');
    say('slow', true); // revision 4
    const [first, second, ...more] = report().by_version;
    expect(more).to.deep.equal([]);
    expect(first).to.deep.include({ version: 'v1', count: 2, agreed: 1, not_counted: 0, evaluations: 3 });
    expect(second).to.deep.include({ version: 'v2', count: 1, agreed: 1, not_counted: 1, evaluations: 2 });
    // Overall, everything that was said counts.
    expect(report()).to.deep.include({ count: 4, agreed: 3, rate: 0.75 });
  });

  it('is reported by version: a change of the instruction, and steps of the examples', () => {
    const versions = ['pv1/none', 'pv1/e1', 'pv1/e4', 'pv1/e5', 'pv1/e9', 'pv1/e10', 'pv1/e19', 'pv1/e20', 'pv2/e20'];
    // What ran elsewhere brings the examples to the revision that each of them is made with.
    let elsewhere = 0;
    const bringTo = (revision: number) => {
      for (; store.revision(JUDGE) < revision; elsewhere += 1) {
        evaluate(`elsewhere ${elsewhere}`, true, null);
        say(`elsewhere ${elsewhere}`, false);
      }
    };
    for (const version of versions) {
      bringTo(Number(/e(\d+)$/.exec(version)?.[1] ?? 0));
      evaluate(version, true, version);
    }
    for (const version of versions) say(version, true);
    const grouped = report().by_version.map((each) => [each.version, each.prompt_version, each.examples, each.count]);
    expect(grouped).to.deep.equal([
      ['v1', 1, { from: 0, to: 0 }, 1],
      ['v2', 1, { from: 1, to: 4 }, 2],
      ['v3', 1, { from: 5, to: 9 }, 2],
      ['v4', 1, { from: 10, to: 19 }, 2],
      ['v5', 1, { from: 20, to: 20 }, 1],
      ['v6', 2, { from: 20, to: 20 }, 1],
      ['external', null, null, elsewhere],
    ]);
    expect(report('each').by_version.map(({ version }) => version)).to.have.length(10);
  });

  it('is reported by ISO week, UTC, and within bounds of time', () => {
    evaluate('a', true, 'pv1/none');
    evaluate('b', true, 'pv1/none');
    file.at = MONDAY + WEEK - 2;
    say('a', true); // the last microsecond of Sunday
    say('b', false); // the first of Monday
    const half = { needed: 0, have: 0 };
    const trial = { ready: true, training: half, held_out: half, next: '' };
    expect(
      calibrationRead({ ...report(), revision: 2, trial }, null).by_week.map(({ week, start, count, rate }) => [
        week,
        start,
        count,
        rate,
      ]),
    ).to.deep.equal([
      ['2026-W01', '2025-12-29T00:00:00.000000Z', 1, 1],
      ['2026-W02', '2026-01-05T00:00:00.000000Z', 1, 0],
    ]);
    expect(store.between(JUDGE, MONDAY + WEEK, MAX)).to.have.length(1);
    expect(store.between(JUDGE, 0, MONDAY + WEEK - 1)).to.have.length(1);
  });

  it('says of scores what is right, and how far off the judge was', () => {
    const scored = { evaluation_type: 'scored', score_min: 0, score_max: 10, pass_threshold: 6 } as const;
    const cases: [score: number, thumbs: boolean, Partial<FeedbackContent>, passed: boolean, error: number | null][] = [
      [8, true, {}, true, 0],
      [8, false, { expected_score: 3 }, false, 5],
      [4, false, { expected_score: 5 }, false, 1],
      [4, false, { score_direction: 'too_high' }, false, null],
      [4, false, { score_direction: 'too_low' }, true, null],
      [8, false, { score_direction: 'too_low' }, true, null],
      [8, false, {}, false, null],
      [5, true, { expected_score: 6 }, true, 1],
    ];
    for (const [index, [score, thumbs, more]] of cases.entries()) {
      evaluate(`s${index}`, score >= 6, 'pv1/none', { ...scored, score });
      say(`s${index}`, thumbs, 'ann', more);
    }
    const truths = truthsOf(all());
    for (const [index, [, , , passed]] of cases.entries())
      expect(truths.find(({ span_id }) => span_id === `s${index}`)?.passed, `case ${index}`).to.equal(passed);
    const found = report();
    expect(found.scores_compared).to.equal(cases.filter(([, , , , error]) => error !== null).length);
    expect(found.mean_absolute_score_error).to.equal((0 + 5 + 1 + 1) / 4);
    expect(found.verdicts).to.deep.equal({
      both_pass: 2,
      judge_pass_human_fail: 2,
      judge_fail_human_pass: 2,
      both_fail: 2,
    });
    expect(found.kappa).to.equal(0);
  });

  it('by several people is outvoted, and decided by the newest when they are equal', () => {
    evaluate('a', true, 'pv1/none');
    say('a', false, 'ann');
    expect(truthsOf(all())[0]).to.deep.equal({ span_id: 'a', passed: false, score: null });
    say('a', true, 'bob');
    expect(truthsOf(all())[0]?.passed).to.equal(true);
    say('a', true, 'ann');
    say('a', false, 'bob');
    expect(truthsOf(all())[0]?.passed).to.equal(false);
  });

  it('make one κ of the newest version, in the report and in lists of judges', async () => {
    const figures = new JudgeFigureService(new SqliteJudgeCounts(file.database));
    const agree = async (): Promise<string | null> => {
      const { kappa, kappa_interval, kappa_version } = report();
      const listed = (await figures.of('project', 0, { limit: 10, offset: 0 })).get(JUDGE);
      expect(listed).to.deep.include({ kappa, kappa_interval, kappa_version });
      return kappa_version && `${kappa_version} ${kappa?.toFixed(2) ?? '-'}`;
    };
    /** How many corrections there are of each exact version, of portions of so many. */
    const counted = (most: number) => {
      const times: Record<string, number> = {};
      let after: CorrectionPlace | null = null;
      do {
        const portion: SaidPortion = new SqliteJudgeCounts(file.database).corrections(JUDGE, 0, after, most);
        for (const one of portion.said)
          times[`${one.judge_version}`] = (times[`${one.judge_version}`] ?? 0) + one.times;
        after = portion.last;
      } while (after !== null);
      return times;
    };
    expect(await agree()).to.equal(null);
    const round = (version: string | null, rights: readonly boolean[], spans: string) => {
      for (const [index, right] of rights.entries()) {
        const span = spans[index] ?? '';
        evaluate(span, index % 2 === 0, version);
        say(span, right);
      }
    };
    round(null, [true, true, false, false], 'abcd');
    expect(await agree()).to.equal('external 0.00');
    round('pv1/none', [false, false, false, false, false, false], 'ghijkl');
    expect(await agree()).to.equal('v1 -1.00');
    round('pv1/e10', [true, true, true, false], 'wxyz');
    expect(await agree()).to.equal('v2 0.50');
    // Of spans that people had spoken of, nothing counts; what is said of an earlier version does not either.
    round('pv1/e15', [false, false, false], 'wxyz');
    say('g', true);
    expect(await agree()).to.equal('v2 0.50');
    evaluate('n', true, 'pv2/none');
    expect(await agree()).to.equal('v3 -');
    for (const most of [1, 3, 1000]) expect(counted(most)).to.deep.equal({ null: 4, 'pv1/none': 6, 'pv1/e10': 4 });
    expect(report().kappa_of_all).to.not.equal(null);
  });

  it('of nothing is null, not zero', () => {
    expect(report()).to.deep.equal({
      judge_id: JUDGE,
      confidence: 0.95,
      count: 0,
      agreed: 0,
      rate: null,
      rate_interval: null,
      spans: 0,
      verdicts: { both_pass: 0, judge_pass_human_fail: 0, judge_fail_human_pass: 0, both_fail: 0 },
      kappa: null,
      kappa_interval: null,
      kappa_version: null,
      kappa_of_all: null,
      kappa_of_all_interval: null,
      scores_compared: 0,
      mean_absolute_score_error: null,
      without_evaluation: 0,
      by_week: [],
      by_version: [],
    });
  });
});
