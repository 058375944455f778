import { expect } from 'chai';
import { draftsFor, metricsOf, refusedMetrics, type MetricDraft } from '../../src/console/model/comparison-draft.js';
import { commonScores, sidesOf, subjectLine, type Experiment } from '../../src/console/model/experiments.js';
import { EMPTY_RUN, runOf } from '../../src/console/model/experiment-run.js';
import { forestOf, type ComparedMetric } from '../../src/console/model/forest.js';
import {
  commonJudges,
  lackingJudges,
  resultsLeft,
  runnableVersions,
  type JudgeFigures,
} from '../../src/console/model/judge-runs.js';

const metric = (name: string, more: Partial<ComparedMetric>) =>
  ({
    name,
    direction: 'higher',
    measure: 'boolean',
    margin_of_difference: null,
    difference: null,
    ...more,
  }) as ComparedMetric;
const difference = (value: number, low: number, high: number, relative = false) => ({
  ...{ value, relative },
  interval: { low, high },
});

describe('the forest plot of a comparison', () => {
  it('draws better to the right, metrics of one unit on one scale, and leaves out what has no difference', () => {
    const forest = forestOf([
      metric('right', { difference: difference(-0.1, -0.2, 0), margin_of_difference: 0.05 }),
      metric('error', { direction: 'lower', difference: difference(-0.1, -0.2, 0) }),
      metric('rate', { measure: 'number', difference: difference(5, 0, 10) }),
      metric('tone', { measure: 'category' }),
    ]);
    expect([...forest.keys()]).to.deep.equal(['right', 'error', 'rate']);
    const [right, error, rate] = ['right', 'error', 'rate'].map((name) => forest.get(name));
    expect(right?.at).to.be.below(0.5);
    expect(right?.interval?.to).to.equal(0.5);
    expect(right?.margin).to.be.closeTo(0.5 - 0.25 * 0.5 * (1 / 1.08), 1e-9);
    expect(error?.at).to.be.closeTo(1 - (right?.at ?? 0), 1e-9);
    expect(error?.interval?.from).to.equal(0.5);
    expect(rate?.interval?.to).to.be.closeTo(0.5 + 0.5 / 1.08, 1e-9);
  });

  it('draws what is no difference at all, and an interval without an end, inside the plot', () => {
    const forest = forestOf([
      metric('same', { difference: difference(0, 0, 0) }),
      metric('wide', { measure: 'number', difference: difference(1, -Infinity, 2) }),
      metric('noisy', { difference: difference(0, 0, 0), noise: { comparison_id: 'c', low: -0.1, high: 0.2 } }),
    ]);
    expect(forest.get('same')).to.deep.equal({ at: 0.5, interval: { from: 0.5, to: 0.5 }, margin: null, noise: null });
    const { from = 0, to = 0 } = forest.get('noisy')?.noise ?? {};
    expect((to - 0.5) / (0.5 - from)).to.be.closeTo(2, 1e-9);
    expect(forest.get('wide')?.interval?.from).to.equal(0);
  });
});

const experiment = (scores: readonly object[], more: object = {}) =>
  ({
    ...{ created_at: '2026-01-01T00:00:00Z', tags: [], subject: {} },
    figures: { scores, errors: 0, cost: 1, duration_ms_p50: 1, input_tokens: null, output_tokens: null },
    ...more,
  }) as unknown as Experiment;
const score = (name: string, kind: string) => ({ name, kind, count: 1, mean: kind === 'categorical' ? null : 1 });

describe('a comparison that is about to be made', () => {
  it('proposes rules for what both experiments have', () => {
    const candidate = experiment([score('ok', 'boolean'), score('rate', 'numeric'), score('tone', 'categorical')]);
    const baseline = experiment([score('rate', 'numeric'), score('ok', 'boolean'), score('other', 'boolean')]);
    const definitions = [{ name: 'rate', min: 0, max: 10 }] as unknown as Parameters<typeof draftsFor>[2];
    const drafts = draftsFor(candidate, baseline, definitions);
    expect(metricsOf(drafts)).to.deep.equal([
      { name: 'ok', rule: 'not_worse', margin: 0.03 },
      { name: 'rate', rule: 'not_worse', margin: 0.3 },
      { name: 'cost', rule: 'not_worse', margin: '10%' },
      { name: 'duration_ms', rule: 'report' },
    ]);
    expect(refusedMetrics(drafts)).to.equal(null);
    const changed = (changes: Partial<MetricDraft>) => drafts.map((draft) => ({ ...draft, ...changes }));
    expect(refusedMetrics(changed({ rule: 'none' }))).to.equal('Choose a metric');
    expect(refusedMetrics(changed({ rule: 'not_worse', margin: '-1' }))).to.equal('Enter a margin of ok');
    expect(refusedMetrics(changed({ rule: 'at_least', value: '' }))).to.equal('Enter what ok must reach');
  });

  it('holds the newer experiment against the older, or against the one that is tagged', () => {
    const older = experiment([]);
    const newer = experiment([], { created_at: '2026-02-01T00:00:00Z' });
    const tagged = experiment([], { created_at: '2026-03-01T00:00:00Z', tags: ['baseline'] });
    expect(sidesOf(older, newer)).to.deep.equal({ candidate: newer, baseline: older });
    expect(sidesOf(newer, older)).to.deep.equal({ candidate: newer, baseline: older });
    expect(sidesOf(tagged, newer)).to.deep.equal({ candidate: newer, baseline: tagged });
  });
});

describe('experiments in a list', () => {
  it('say in a line what they try', () => {
    expect(
      subjectLine({ commit: '0123456789ab', dirty: true, branch: 'b', prompt_slug: 'p', prompt_version: 2 }),
    ).to.equal('01234567 with changes · b · p v2');
    expect(subjectLine({ url: 'https://ci', model: '' })).to.equal('https://ci');
    expect(subjectLine({ url: 'https://ci', model: 'm', k: 4 })).to.equal('m · k: 4');
    expect(subjectLine({})).to.equal('');
  });

  it('have columns for the scores that most of them have', () => {
    const all = [experiment([score('b', 'numeric')]), experiment([score('a', 'boolean'), score('b', 'numeric')])];
    expect(commonScores([...all, experiment([score('tone', 'categorical')])], 4)).to.deep.equal(['b', 'a']);
    expect(commonScores(all, 1)).to.deep.equal(['b']);
  });
});

describe('judges of experiments', () => {
  const judge = (judge_id: string, judge_version: string, more: Partial<JudgeFigures> = {}) =>
    ({ judge_id, judge_version, name: judge_id, available: true, evaluated: 4, pending: 1, ...more }) as JudgeFigures;
  const ran = (name: string, ...judges: JudgeFigures[]) => ({ name, judges, figures: { results: 9 } }) as Experiment;

  it('offer the version that was run on the experiment first, then those of others, but none that is unavailable', () => {
    const of = ran(
      'own',
      judge('a', 'v2'),
      judge('a', 'v1'),
      judge('b', 'v9'),
      judge('a', 'lost', { available: false }),
    );
    const other = ran('other', judge('a', 'v1'), judge('a', 'v0'));
    expect(runnableVersions('a', of, [other]).map(({ version, ranOn }) => [version, ranOn])).to.deep.equal([
      ['v2', 'own'],
      ['v1', 'own'],
      ['v0', 'other'],
      ['current', null],
    ]);
    expect([resultsLeft(of, 'a', 'v2'), resultsLeft(of, 'a', 'current')]).to.deep.equal([4, 9]);
  });

  it('are common where one version was run on both, by that run on the candidate last; others say what they lack', () => {
    const candidate = ran('new', judge('a', 'v3'), judge('a', 'v2'), judge('a', 'v1'), judge('b', 'w2'));
    const baseline = ran('old', judge('a', 'v1'), judge('a', 'v2'), judge('b', 'w1'), judge('c', 'x'));
    expect(commonJudges(candidate, baseline).map(({ judge_version }) => judge_version)).to.deep.equal(['v2']);
    expect(
      lackingJudges(candidate, baseline).map((one) => [one.judge.judge_version, one.lacks, one.differs]),
    ).to.deep.equal([
      ['w1', 'candidate', true],
      ['x', 'candidate', false],
    ]);
    expect(lackingJudges(ran('n'), ran('o', judge('a', 'v', { available: false })))).to.deep.equal([]);
  });

  it('are run on what is entered: rows by number or id, versions by number or tag', () => {
    const draft = { ...EMPTY_RUN, dataset: 'qa', prompt: 'p' };
    expect(runOf(draft)).to.include({
      prompt_version: null,
      prompt_tag: null,
      dataset_version: null,
      rows: null,
      tags: null,
    });
    const full = {
      ...draft,
      version: 'tag:7',
      datasetVersion: '2',
      rows: ' r1, r 2,',
      tags: 'a,b',
      temperature: 'warm',
    };
    expect(runOf(full)).to.deep.include({
      ...{ prompt_version: null, prompt_tag: '7', dataset_version: 2, rows: ['r1', 'r 2'], tags: ['a', 'b'] },
      temperature: 'warm',
    });
    expect(
      runOf({ ...draft, version: '7', datasetVersion: 'ci', rows: '3', variables: { a: 'x', b: '' } }),
    ).to.deep.include({
      ...{ prompt_version: 7, prompt_tag: null, dataset_version: 'ci', rows: 3, variables: { a: 'x' } },
    });
  });
});
