import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from '../experiments/experiment-api.js';
import { makeProject } from '../harness/projects.js';

const RULES = [{ name: 'correct', rule: 'no_regression' }];

describe('comparisons over HTTP', function () {
  this.timeout(120_000);
  let api: ExperimentApi;
  let path: string;
  let candidate: any;
  let baseline: any;
  before(async () => {
    api = await experimentApi();
    path = `/projects/${api.server.projectId}/comparisons`;
    await api.dataset('qa', 60);
    baseline = await finished('before', (row) => ({ correct: row > 6, rate: row, tone: row > 30 ? 'calm' : 'warm' }));
    candidate = await finished('after', (row) => ({ correct: row > 24 || row < 3, rate: row - 0.5, tone: 'calm' }));
    await api.ok('POST', `~/${baseline.id}/tags/baseline:pin`);
  });
  after(() => api?.dispose());

  /** An experiment with a result of each of 60 rows; null: an error. */
  async function finished(
    name: string,
    scores: (row: number) => object | null,
    dataset = 'qa',
    rows = 60,
    more: object = {},
  ) {
    const made = await api.create(dataset, { name, ...more });
    const results = Array.from({ length: rows }, (_, index) => {
      const given = scores(index + 1);
      const said = given === null ? { error: 'timeout' } : { output_data: `${name} of ${index + 1}`, scores: given };
      return { row_id: `r${index + 1}`, ...said };
    });
    await api.ok('POST', `~/${made.id}/results`, results);
    return api.ok('POST', `~/${made.id}:finish`);
  }

  const compare = (body: object = {}, headers: Record<string, string> = {}) =>
    api.server.request('POST', path, {
      body: { candidate: candidate.id, baseline: { tag: 'baseline' }, metrics: RULES, ...body },
      headers,
    });
  const found = async (body: object = {}) => {
    const { status, json, text } = await compare(body);
    expect(status, text).to.equal(201);
    return json;
  };

  it('finds a regression, and keeps it', async () => {
    const hooks = path.replace('comparisons', 'webhooks');
    const body = { name: 'told', kind: 'webhook', target: 'http://127.0.0.1/x', events: ['comparison.failed'] };
    const { id } = (await api.server.request('POST', hooks, { body })).json;
    const told = async () => (await api.server.request('GET', `${hooks}/${id}/deliveries`)).json;
    expect(await told()).to.deep.equal([]);
    const made = await found();
    expect((await told()).map(({ event }: { event: string }) => event)).to.deep.equal(['comparison.failed']);
    expect(made).to.include({ verdict: 'failed', rows: 60, confidence: 0.95, errors: 'count_as_fail' });
    expect(made.candidate).to.deep.equal({ id: candidate.id, name: 'after', dataset_version: 1, tag: null });
    expect(made.baseline).to.include({ id: baseline.id, tag: 'baseline' });
    expect(made.metrics[0]).to.include({ wins: 2, losses: 18, ties: 40, test: 'mcnemar_mid_p', verdict: 'failed' });
    expect(made.because).to.have.length(1);
    expect((await api.server.request('GET', `${path}/${made.id}`)).json).to.deep.equal(made);
    const listed = (await api.server.request('GET', `${path}?experiment_id=${baseline.id}&verdict=failed`)).json;
    expect(listed[0]).to.deep.include({ id: made.id, verdict: 'failed', baseline: made.baseline });
    expect((await api.server.request('GET', `${path}?verdict=incomparable`)).json).to.deep.equal([]);
  });

  it('says the same twice of numbers, categories, figures and slices', async () => {
    const metrics = [
      { name: 'rate', rule: 'not_worse', margin: '10%' },
      { name: 'tone', rule: 'report' },
      { name: 'cost', rule: 'report' },
      { name: 'error', rule: 'no_regression' },
      { name: 'never', rule: 'no_regression' },
    ];
    const once = await found({ metrics, slices: ['data.question'], confidence: 0.9 });
    const { id: _id, created_at: _at, ...rest } = await found({ metrics, slices: ['data.question'], confidence: 0.9 });
    expect(once).to.deep.include(rest);
    const [rate, tone, cost, error, never] = once.metrics;
    expect(rate).to.include({ verdict: 'passed', test: 'sign_flip', losses: 60 });
    expect(rate.difference.value).to.be.closeTo(-0.5, 1e-9);
    // Values of a single row could say who is meant.
    expect(rate.slices).to.deep.equal([]);
    expect(tone.moves).to.deep.equal([{ from: 'warm', to: 'calm', rows: 30 }]);
    expect(cost).to.deep.include({ rows: 0, left_out: { no_value: 60, error: 0 } });
    expect(error).to.include({ verdict: 'passed', ties: 60 });
    expect(never).to.include({
      verdict: 'undecided',
      because: 'never: no row has a value in both experiments. Nothing can be said.',
    });
    expect(once.verdict).to.equal('undecided');
  });

  it('knows how far the same differs from itself, once it was tried twice', async () => {
    await api.dataset('noisy', 60);
    const subject = { commit: 'c0ffee', model: 'gpt-4o', url: 'https://ci.example/1' };
    const tried = (name: string, of: object, shift: number) =>
      finished(name, (row) => ({ correct: (row + shift) % 10 > 2 }), 'noisy', 60, of);
    const [one, other] = [await tried('one', { subject }, 0), await tried('other', { subject }, 1)];
    const changed = await tried('changed', { subject: { ...subject, commit: 'beef' } }, 5);
    const repeat = await found({ candidate: other.id, baseline: one.id });
    expect(repeat).to.include({ is_repeat: true });
    expect(repeat.metrics[0]).to.deep.include({ noise: null, wins: 6, losses: 6 });
    const later = await found({ candidate: changed.id, baseline: one.id });
    const { low, high } = repeat.metrics[0].difference.interval;
    expect(later.is_repeat).to.equal(false);
    expect(later.metrics[0].noise).to.deep.equal({ comparison_id: repeat.id, low, high });
    const body = { candidate: changed.id, baseline: one.id };
    expect((await compare(body, { accept: 'text/markdown' })).text).to.contain(
      'Two runs of the same subject differed by -',
    );
    expect((await found()).metrics[0].noise).to.equal(null);
  });

  it('is answered as Markdown and as a JUnit report', async () => {
    const markdown = await compare({}, { accept: 'text/markdown' });
    expect(markdown.headers.get('content-type')).to.contain('text/markdown');
    expect(markdown.text).to.match(/^## ❌ Comparison failed: after with before \(baseline\)\n/);
    expect(markdown.text).to.contain('| correct | no\\_regression | 90.0% | 63.3% | -26.7 points (');
    const junit = await compare({}, { accept: 'application/xml' });
    expect(junit.text).to.contain('<testsuite name="after with before (baseline)"');
    expect(junit.text).to.contain('<testsuites name="spanhouse" tests="1" failures="1" errors="0" skipped="0">');
    expect(junit.text).to.contain('<failure message="correct: 63.3%, before 90.0%');
    const { id } = await found();
    expect(
      (await api.server.request('GET', `${path}/${id}`, { headers: { accept: 'application/xml' } })).text,
    ).to.equal(junit.text);
  });

  it('shows rows by what became of them', async () => {
    const { id } = await found({ metrics: [...RULES, { name: 'tone', rule: 'report' }] });
    const rows = (query: string) => api.server.request('GET', `${path}/${id}/rows?${query}`);
    const losses = await rows('metric=correct&outcome=loss&limit=2&offset=1');
    expect(losses.headers.get('x-total-count')).to.equal('18');
    expect(losses.json).to.have.length(2);
    const [row] = losses.json;
    expect(row).to.deep.include({ outcome: 'loss', left_out: null });
    expect(row.input_data).to.have.keys('id', 'question');
    expect(row.candidate).to.include({ value: 0, output_data: `after of ${row.row_id.slice(1)}`, has_error: false });
    expect(row.baseline).to.include({ value: 1, output_data: `before of ${row.row_id.slice(1)}` });
    expect(row.candidate.trace_id).to.match(/^[0-9a-f-]{36}$/);
    expect((await rows('metric=correct&outcome=win')).json.map(({ row_id }: any) => row_id).sort()).to.deep.equal([
      'r1',
      'r2',
    ]);
    expect((await rows('metric=tone&outcome=loss&limit=1')).json[0].baseline.value).to.equal('warm');
    expect((await rows('metric=correct&outcome=left_out')).json).to.deep.equal([]);
    expect((await rows('metric=cost')).status).to.equal(422);
  });

  it('leaves out rows that changed, are missing or have no value, and says so', async () => {
    await api.dataset('moving', 12);
    const old = await finished('old', (row) => (row === 12 ? null : { ok: true }), 'moving', 12);
    const changed = [
      { id: 'r1', question: 'Another' },
      { id: 'r99', question: 'New' },
    ];
    await api.ok('POST', '/v1/datasets/moving/versions', { mode: 'merge', rows: changed, remove: ['r2'] });
    const made = await api.create('moving', { name: 'new' });
    const results = Array.from({ length: 9 }, (_, index) => ({
      row_id: `r${index + 4}`,
      output_data: '',
      scores: index === 0 ? {} : { ok: true },
    }));
    await api.ok('POST', `~/${made.id}/results`, results);
    await api.ok('POST', `~/${made.id}:finish`);
    const metrics = [{ name: 'ok', rule: 'no_regression' }];
    const comparison = await found({ candidate: made.id, baseline: old.id, metrics });
    expect(comparison.left_out).to.deep.equal({
      ...{ missing_in_candidate: 1, missing_in_baseline: 0, missing_in_both: 0 },
      ...{ content_differs: 1, not_in_both_versions: 2, erased: 0 },
    });
    expect(comparison.rows).to.equal(9);
    expect(comparison.metrics[0]).to.deep.include({ rows: 8, wins: 1, left_out: { no_value: 1, error: 0 } });
    const left = (await api.server.request('GET', `${path}/${comparison.id}/rows?metric=ok&outcome=left_out`)).json;
    expect(Object.fromEntries(left.map((row: any) => [row.row_id, row.left_out]))).to.deep.equal({
      ...{ r1: 'content_differs', r2: 'not_in_both_versions', r99: 'not_in_both_versions' },
      ...{ r3: 'missing_in_candidate', r4: 'no_value' },
    });
    const errors = (await api.server.request('GET', `${path}/${comparison.id}/rows?metric=ok&outcome=error`)).json;
    expect(errors.map((row: any) => [row.row_id, row.baseline.has_error, row.baseline.error_message])).to.deep.equal([
      ['r12', true, 'timeout'],
    ]);
  });

  it('says clearly what cannot be compared', async () => {
    await api.dataset('other', 3);
    const other = await finished('elsewhere', () => ({ correct: true }), 'other', 3);
    const foreign = await found({ baseline: other.id });
    expect(foreign).to.deep.include({ verdict: 'incomparable', metrics: [] });
    expect(foreign.because[0]).to.match(/The candidate ran on the dataset "qa", the baseline on "other"/);
    const canceled = await api.create('qa');
    await api.ok('POST', `~/${canceled.id}:cancel`);
    expect((await found({ candidate: canceled.id })).because[0]).to.contain('The candidate is canceled');
    const empty = await api.create('qa');
    await api.ok('POST', `~/${empty.id}:finish`);
    expect((await found({ candidate: empty.id })).because[0]).to.contain('No row with the same content');
  });

  it('waits until an experiment is finished, and no longer than asked', async () => {
    const running = await api.create('qa', { name: 'slow' });
    const refused = await compare({ candidate: running.id });
    expect([refused.status, refused.json.detail]).to.deep.equal([
      409,
      'The experiment "slow" is still running: finish it, or wait longer.',
    ]);
    expect((await compare({ candidate: running.id, wait_seconds: 1 })).status).to.equal(409);
    const waiting = compare({ candidate: running.id, wait_seconds: 30 });
    await api.ok('POST', `~/${running.id}/results`, [{ row_id: 'r1', output_data: '', scores: { correct: true } }]);
    await api.ok('POST', `~/${running.id}:finish`);
    expect((await waiting).status).to.equal(201);
  });

  it('refuses what it does not understand', async () => {
    const issues = async (body: object) =>
      (await compare(body)).json.errors.map((issue: any) => `${issue.pointer} ${issue.detail}`);
    const metrics = [
      { name: 'correct', rule: 'not_worse' },
      { name: 'correct', rule: 'at_least' },
      { name: 'rate', rule: 'report', margin: 1, value: 2 },
      { name: 'tone', rule: 'no_regression' },
    ];
    expect(await issues({ metrics })).to.deep.equal([
      '/metrics/0/margin is required by not_worse',
      '/metrics/1/name is there twice',
      '/metrics/1/value is required by at_least',
      '/metrics/2/margin is for not_worse, not for report',
      '/metrics/2/value is for at_least, not for report',
      '/metrics/3/rule must be report: these scores are categories or texts, which are neither better nor worse',
    ]);
    expect(await issues({ baseline: candidate.id })).to.deep.equal(['/baseline is the candidate itself']);
    expect(await issues({ candidate: { tag: 'baseline' } })).to.deep.equal([
      '/candidate needs the dataset of the tag, as the other experiment is given by a tag, too',
    ]);
    expect(await issues({ baseline: { tga: 'baseline' } })).to.deep.equal([
      '/baseline/tag is required',
      '/baseline/tga is unknown',
    ]);
    expect((await compare({ metrics: [] })).status).to.equal(422);
    expect((await compare({ metrics: [{ name: 'correct', rule: 'not_worse', margin: 'ten' }] })).status).to.equal(422);
    expect((await compare({ baseline: { tag: 'nowhere' } })).status).to.equal(404);
    expect((await found({ baseline: { tag: 'baseline', dataset: 'qa' } })).baseline.id).to.equal(baseline.id);
    expect((await compare({ baseline: { tag: 'baseline', dataset: 'none' } })).status).to.equal(404);
  });

  it('nothing of it is seen from another project', async () => {
    const { id } = await found();
    const other = makeProject(api.server.dataDir);
    const as = (method: string, at: string, body?: object) =>
      api.server.request(method, at, { key: other.key, ...(body && { body }) });
    const foreign = `/projects/${other.projectId}/comparisons`;
    expect((await as('GET', `${foreign}/${id}`)).status).to.equal(404);
    expect((await as('GET', `${foreign}/${id}/rows?metric=correct`)).status).to.equal(404);
    expect((await as('DELETE', `${foreign}/${id}`)).status).to.equal(404);
    expect((await as('GET', foreign)).json).to.deep.equal([]);
    const body = { candidate: candidate.id, baseline: baseline.id, metrics: RULES };
    expect((await as('POST', foreign, body)).status).to.equal(404);
  });

  it('goes when it is deleted, and with its experiments', async () => {
    const { id } = await found();
    expect((await api.server.request('DELETE', `${path}/${id}`)).status).to.equal(204);
    expect((await api.server.request('GET', `${path}/${id}`)).status).to.equal(404);
    const gone = await finished('gone', () => ({ correct: true }));
    const second = await found({ candidate: gone.id });
    await api.ok('DELETE', `~/${gone.id}`);
    expect((await api.server.request('GET', `${path}/${second.id}`)).status).to.equal(404);
  });

  it('goes when a row of its dataset is erased, or its dataset is deleted', async () => {
    const source = await finished('source', () => ({ correct: true }), 'qa', 2);
    const { results } = await api.ok('GET', `~/${source.id}/results`);
    const spans = results.map(({ id }: any) => id);
    await api.ok('POST', '/v1/datasets', { name: 'made' });
    await api.ok('POST', '/v1/datasets/made/rows:from_spans', { span_ids: spans, mapping: { a: 'output_data' } });
    const trial = async () => {
      const { id } = await api.create('made');
      const scored = spans.map((row_id: string) => ({ row_id, output_data: '', scores: { correct: true } }));
      await api.ok('POST', `~/${id}/results`, scored);
      return api.ok('POST', `~/${id}:finish`);
    };
    const pair = { candidate: (await trial()).id, baseline: (await trial()).id };
    const first = await found(pair);
    expect(first.rows).to.equal(2);
    expect((await api.server.request('DELETE', `/traces/${results[0].trace_id}`)).status).to.equal(204);
    const isGone = async (id: string) => {
      const known = (await api.server.request('GET', `${path}?experiment_id=${pair.candidate}`)).json;
      expect(known.map((each: any) => each.id)).not.to.include(id);
      expect((await api.server.request('GET', `${path}/${id}`)).status).to.equal(404);
    };
    await isGone(first.id);
    const second = await found(pair);
    expect(second).to.deep.include({ rows: 1, left_out: { ...second.left_out, erased: 1 } });
    await api.ok('DELETE', '/v1/datasets/made');
    await isGone(second.id);
    expect((await found(pair)).because[0]).to.contain('was deleted');
  });

  it('figures have an end, whatever clients send', async () => {
    const large = await finished('large', (row) => ({ rate: row % 2 === 0 ? 1e308 : row }));
    const metrics = [
      { name: 'rate', rule: 'not_worse', margin: 1e308 },
      { name: 'error', rule: 'no_regression' },
    ];
    const { id, verdict, metrics: judged } = await found({ candidate: large.id, metrics });
    expect([verdict, ...judged.map((each: any) => each.verdict)]).to.deep.equal(['undecided', 'undecided', 'passed']);
    expect(judged[0].left_out).to.deep.equal({ no_value: 0, error: 0, too_large: 30 });
    const rows = (await api.server.request('GET', `${path}/${id}/rows?metric=rate&outcome=left_out&limit=100`)).json;
    expect(rows.map(({ left_out }: any) => left_out)).to.deep.equal(Array<string>(30).fill('too_large'));
  });

  it('a project waits in 20 requests at most, and one that goes away leaves its place', async () => {
    const running = await api.create('qa', { name: 'awaited' });
    const waiting = Array.from({ length: 21 }, () => compare({ candidate: running.id, wait_seconds: 2 }));
    const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([...Array<number>(20).fill(409), 429]);
  });

  it('ends with its project', async () => {
    const { projectId, key } = makeProject(api.server.dataDir, { name: 'ended' });
    const own = async (method: string, at: string, body?: object) =>
      api.server.request(method, at, { key, ...(body && { body }) });
    await own('POST', '/v1/datasets', { name: 'own' });
    await own('POST', '/v1/datasets/own/versions', { rows: [{ id: 'r1' }] });
    const create = async () =>
      (await own('POST', `/projects/${projectId}/experiments`, { name: 'own', dataset: 'own' })).json.id;
    const pair = { candidate: await create(), baseline: await create() };
    const body = { ...pair, metrics: RULES, wait_seconds: 600 };
    const comparing = own('POST', `/projects/${projectId}/comparisons`, body);
    // It waits by now: its second look comes after this answer.
    await own('GET', `/projects/${projectId}/experiments`);
    expect((await own('DELETE', `/projects/${projectId}`)).status).to.equal(202);
    expect((await comparing).status).to.equal(404);
  });
});
