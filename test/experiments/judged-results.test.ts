import { expect } from 'chai';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from '../judges/judge-api.js';
import { answer, failing, passing, type Asked } from '../judges/model-endpoint.js';

const ROWS = 6;
const INSTRUCTION = 'Is {{output}} the same as {{expected}}, for {{row.question}}?';

describe('results of experiments that judges evaluate', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api } = bench);
    await dataset(api, 'qa');
  });
  after(() => bench?.dispose());
  afterEach(() => bench.endpoint.reset());

  async function dataset(of: JudgeApi, name: string): Promise<Json> {
    const made = await of.expect(201, 'POST', '/v1/datasets', { name });
    const rows = Array.from({ length: ROWS }, (_none, index) => ({
      ...{ id: `r${index + 1}`, question: `Question ${index + 1}`, expected: `Answer ${index + 1}` },
    }));
    await of.expect(200, 'POST', `/v1/datasets/${name}/versions`, { rows });
    return made;
  }

  async function experiment(of: JudgeApi, more: Json = {}, results = outputs()): Promise<Json> {
    const made = await of.expect(201, 'POST', 'experiments', { name: 'tried', dataset: 'qa', ...more });
    await of.expect(200, 'POST', `experiments/${made['id']}/results`, results);
    return made;
  }
  const outputs = (): Json[] =>
    Array.from({ length: ROWS }, (_none, index) => ({ row_id: `r${index + 1}`, output_data: `Said ${index + 1}` }));
  const run = (judge: Json, body: Json, of = api) => of.expect(202, 'POST', `judges/${judge['id']}:run`, body);
  const judgesOf = async ({ id }: Json, of = api): Promise<Json[]> =>
    (await of.expect(200, 'GET', `experiments/${id}`)).judges;
  const judged = (of: Json, count = ROWS, from = api) =>
    eventually(
      () => judgesOf(of, from),
      ([first]) => first?.['evaluated'] === count && first['pending'] === 0,
    );
  const texts = (asked: readonly Asked[]) => asked.map(({ body }) => JSON.stringify(body.messages));

  it('are each evaluated once, with what their row says', async () => {
    const judge = await bench.make({ prompt: INSTRUCTION });
    const results = [...outputs().slice(1), { row_id: 'r1', error: 'It broke.' }];
    const of = await experiment(api, { repetitions: 2 }, [
      ...results,
      { row_id: 'r2', repetition: 2, output_data: 'Other' },
    ]);
    expect(await judgesOf(of)).to.deep.equal([]);
    bench.endpoint.script = ({ last }) => answer(last.includes('Said 3') ? failing : passing);
    const [first, second] = await Promise.all([
      run(judge, { experiment_id: of['id'] }),
      run(judge, { experiment_id: of['id'] }),
    ]);
    expect(Number(first.queued) + Number(second.queued)).to.equal(ROWS);
    expect(first).to.include({ left: 0, skipped: 1, judge_version: second.judge_version });
    const [found] = await judged(of);
    expect(found).to.deep.equal({
      ...{ judge_id: judge['id'], name: judge['name'], judge_version: first.judge_version, evaluation_type: 'binary' },
      ...{
        evaluated: ROWS,
        passed: ROWS - 1,
        rate: (ROWS - 1) / ROWS,
        mean: null,
        pending: 0,
        failed: 0,
        available: true,
      },
    });
    expect(await run(judge, { experiment_id: of['id'] })).to.include({ queued: 0, left: 0, skipped: 1 });
    const asked = texts(bench.endpoint.asked);
    expect(asked).to.have.length(ROWS);
    const third = asked.find((text) => text.includes('Said 3')) ?? '';
    expect(third)
      .to.match(/<expected-\w+>\\nAnswer 3\\n/)
      .and.match(/<row.question-\w+>\\nQuestion 3\\n/);
    await run(judge, { experiment_id: (await experiment(api))['id'] });
    const listed = async (query: string): Promise<Json> =>
      api.expect(200, 'GET', `judges/${judge['id']}/evaluations?experiment_id=${of['id']}${query}`);
    expect(await listed('')).to.deep.include({ total: ROWS });
    expect((await listed('&evaluation_result=false')).evaluations).to.have.length(1);
    expect(await listed('&agreement=disagreed')).to.deep.include({ total: 0, evaluations: [] });
    await api.expect(422, 'GET', `judges/${judge['id']}/evaluations?experiment_id=${of['id']}&offset=10000`);
    await api.expect(200, 'POST', `experiments/${of['id']}/results`, [{ row_id: 'r1', output_data: 'Late' }]);
    expect(await run(judge, { experiment_id: of['id'] })).to.include({ queued: 1, skipped: 0 });
    await judged(of, ROWS + 1);
  });

  it('are found by scored judges with a mean, and failures counted and tried again', async () => {
    const judge = await bench.makeScored({ prompt: 'Score it.' });
    const of = await experiment(api);
    bench.endpoint.script = ({ last }) =>
      last.includes('Said 2')
        ? { do: 'status', status: 400 }
        : answer({ reason: 'r', score: last.includes('Said 1') ? 3 : 8, confidence: 1 });
    await run(judge, { experiment_id: of['id'] });
    const [found] = await eventually(
      () => judgesOf(of),
      ([first]) => first?.['evaluated'] === ROWS - 1 && first['failed'] === 1,
    );
    expect(found).to.deep.include({ passed: ROWS - 2, mean: (3 + 8 * (ROWS - 2)) / (ROWS - 1), pending: 0 });
    bench.endpoint.script = () => answer({ reason: 'r', score: 10, confidence: 1 });
    expect(await run(judge, { experiment_id: of['id'] })).to.include({ queued: 1 });
    expect((await judged(of))[0]).to.include({ failed: 0, passed: ROWS - 1 });
  });

  /** Judges an experiment, and says that the first verdict is wrong. */
  async function corrected(judge: Json, of: Json, reason: string, row = 0): Promise<Json> {
    const { results } = await api.expect(200, 'GET', `experiments/${of['id']}/results`);
    const span = results[row].id as string;
    return api.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${span}/feedback`, {
      judge_id: judge['id'],
      thumbs_up: false,
      reason,
    });
  }

  it('are judged by one version, whatever is corrected during and after', async () => {
    const judge = await bench.make({ prompt: 'Is it right?' });
    const before = await experiment(api);
    const plain = await run(judge, { experiment_id: before['id'] });
    await judged(before);
    await corrected(judge, before, 'First reason');
    const of = await experiment(api);
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    bench.endpoint.reset(() => answer(passing, opened));
    const { judge_version } = await run(judge, { experiment_id: of['id'], judge_version: 'current' });
    expect(judge_version).to.match(/\/e1$/);
    await corrected(judge, before, 'Second reason');
    await corrected(judge, before, 'Third reason', 1);
    open();
    await judged(of);
    const shown = texts(bench.endpoint.asked);
    expect(shown.filter((text) => text.includes('First reason'))).to.have.length(ROWS);
    expect(shown.filter((text) => /Second reason|Third reason/.test(text))).to.deep.equal([]);
    // The same version again, of an experiment that comes later; and the one without corrections.
    const later = await experiment(api);
    bench.endpoint.reset();
    expect(await run(judge, { experiment_id: later['id'], judge_version })).to.include({ queued: ROWS, judge_version });
    await judged(later);
    expect(texts(bench.endpoint.asked).every((text) => text.includes('First reason'))).to.equal(true);
    expect(await run(judge, { experiment_id: later['id'] })).to.include({ queued: 0, judge_version });
    const bare = { experiment_id: later['id'], judge_version: plain.judge_version };
    expect(await run(judge, bare)).to.include({ queued: ROWS });
    await judged(later);
    const now = await run(judge, { experiment_id: later['id'], judge_version: 'current' });
    expect(now.judge_version).to.match(/\/e3$/);
    await judged(later);
    expect((await judgesOf(later)).map((each) => each['judge_version'])).to.deep.equal([
      ...[now.judge_version, plain.judge_version, judge_version],
    ]);
  });

  it('cannot be judged any more by a version whose corrections went with a span', async () => {
    const judge = await bench.make({ prompt: 'Is it right?' });
    const before = await experiment(api);
    await run(judge, { experiment_id: before['id'] });
    await judged(before);
    await corrected(judge, before, 'The secret reason');
    const of = await experiment(api);
    const { judge_version } = await run(judge, { experiment_id: of['id'] });
    await judged(of);
    await api.expect(204, 'DELETE', `experiments/${before['id']}`);
    expect((await judgesOf(of))[0]).to.include({ judge_version, evaluated: ROWS, available: false });
    const other = await experiment(api);
    const body = { experiment_id: other['id'], judge_version };
    expect((await api.expect(409, 'POST', `judges/${judge['id']}:run`, body)).detail).to.match(
      /is no longer available/,
    );
    const now = await run(judge, { experiment_id: other['id'] });
    expect(now.judge_version).to.not.equal(judge_version);
    await judged(other);
  });

  it('are refused where a column, a version or an experiment is not there', async () => {
    const judge = await bench.make({ prompt: 'Is {{row.anser}} right?' });
    const of = await experiment(api);
    const path = `judges/${judge['id']}:run`;
    const refused = async (body: Json, by = api) => Object.entries(await by.refused('POST', path, body));
    expect(await refused({ experiment_id: of['id'] })).to.deep.equal([
      [
        '/experiment_id',
        'is of a dataset without the column anser, which the instruction shows; it has id, question, expected',
      ],
    ]);
    const plain = await bench.make();
    const elsewhere = bench.project('other');
    const its = await elsewhere.create();
    await elsewhere.expect(404, 'POST', path, { experiment_id: of['id'] });
    const none = { '/experiment_id': 'there is no experiment with this id' };
    expect(await elsewhere.refused('POST', `judges/${its['id']}:run`, { experiment_id: of['id'] })).to.deep.equal(none);
    const run2 = `judges/${plain['id']}:run`;
    const { '/judge_version': detail } = await api.refused('POST', run2, {
      ...{ experiment_id: of['id'], judge_version: 'none/e7' },
    });
    expect(detail).to.match(/is no version of this judge that is kept/);
    expect(await api.refused('POST', run2, { span_ids: [of['id']], experiment_id: of['id'] })).to.have.keys('');
    expect(await api.refused('POST', run2, { backfill: 1, judge_version: 'current' })).to.have.keys('/judge_version');
    await api.expect(204, 'DELETE', `experiments/${of['id']}`);
    expect(await api.refused('POST', run2, { experiment_id: of['id'] })).to.deep.equal(none);
  });

  it('are held out with their row, whatever the experiment and the repetition', async () => {
    const judge = await bench.make();
    const both = outputs().flatMap((result) => [result, { ...result, repetition: 2 }]);
    const experiments = [await experiment(api, { repetitions: 2 }, both), await experiment(api)];
    for (const of of experiments) await run(judge, { experiment_id: of['id'] });
    for (const [index, of] of experiments.entries()) {
      await judged(of, index === 0 ? 2 * ROWS : ROWS);
      const all = index === 0 ? 2 * ROWS : ROWS;
      for (let row = 0; row < all; row += 1) await corrected(judge, of, 'A reason', row);
    }
    const path = `judges/${judge['id']}/calibration`;
    const { trial } = await api.expect(200, 'GET', path);
    const { training, held_out } = trial;
    expect(Number(training.have) + Number(held_out.have)).to.equal(3 * ROWS);
    expect([training.have % 3, held_out.have % 3]).to.deep.equal([0, 0]);
  });

  /** What a draft of a judge asks about a result. */
  async function tried({ id }: Json): Promise<string> {
    const draft = { name: 'Draft', evaluation_type: 'binary', prompt: 'Is {{output}} right?', try: [id] };
    const preview = await api.expect(200, 'POST', 'judges:preview', draft);
    return JSON.stringify(preview.tried[0].request.messages);
  }

  it('are judged by the output of the trace that they only name, until that is deleted', async () => {
    const [one, two, none] = [
      finished({ output_data: 'Made in one' }),
      finished({ output_data: 'Made in two' }),
      finished(),
    ];
    await api.post(one, two, finished({ ...none, output_data: null }));
    const linked = [one, two, none].map(({ trace_id }, index) => ({ row_id: `r${index + 1}`, trace_id }));
    const of = await experiment(api, {}, [...linked, { row_id: 'r4', error: 'It broke.', trace_id: one['trace_id'] }]);
    const judge = await bench.make({ prompt: INSTRUCTION });
    const { results: before } = await api.expect(200, 'GET', `experiments/${of['id']}/results`);
    const answers = await Promise.all([0, 2].map(async (place) => (await api.explain(judge, before[place])).answer));
    expect(answers).to.deep.equal(['filtered', 'unfinished']);
    expect(await tried(before[0])).to.match(/Made in one/);
    expect(await run(judge, { experiment_id: of['id'] })).to.include({ queued: 2, skipped: 2 });
    expect((await judged(of, 2))[0]).to.include({ passed: 2 });
    const asked = texts(bench.endpoint.asked.slice(1));
    expect(
      asked.filter((text) => /Made in one.*Answer 1/s.test(text) || /Made in two.*Answer 2/s.test(text)),
    ).to.have.length(2);
    const { results } = await api.expect(200, 'GET', `experiments/${of['id']}/results`);
    expect(results[0]).to.include({ output_data: 'Made in one', trace_id: one['trace_id'] });

    const ofTraces = await bench.make({ prompt: 'Is the trace right?', subject: 'trace' });
    bench.endpoint.reset();
    expect(await run(ofTraces, { experiment_id: of['id'] })).to.include({ queued: 2, skipped: 2 });
    await eventually(
      () => judgesOf(of),
      (all) => all.every(({ evaluated, pending }) => evaluated === 2 && pending === 0),
    );
    expect(texts(bench.endpoint.asked).filter((text) => /Made in (one|two)/.test(text))).to.have.length(2);

    const calls = () => api.expect(200, 'GET', '/spans?spanhouse.judge=draft');
    expect(await calls()).to.have.length(1);
    await api.expect(204, 'DELETE', `/traces/${one['trace_id']}`);
    expect(await calls()).to.deep.equal([]);
    expect(await tried(before[0])).to.not.match(/Made in/);
    expect((await judgesOf(of)).map(({ evaluated }) => evaluated)).to.deep.equal([1, 1]);
    expect(await run(judge, { experiment_id: of['id'] })).to.include({ queued: 0, skipped: 3 });
  });

  it('lose what is queued and found with their experiment', async () => {
    const judge = await bench.make();
    const of = await experiment(api);
    bench.endpoint.reset(() => ({ do: 'hang' }));
    await run(judge, { experiment_id: of['id'] });
    await api.expect(204, 'DELETE', `experiments/${of['id']}`);
    bench.endpoint.reset();
    expect(await api.runs(judge)).to.deep.equal([]);
    expect(await api.evaluations(judge)).to.deep.equal([]);
    await api.expect(404, 'GET', `experiments/${of['id']}`);
  });
});
