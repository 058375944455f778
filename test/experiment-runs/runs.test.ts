import { expect } from 'chai';
import { withDatabase } from '../feedback/feedback-api.js';
import { eventually, JudgeBench, type JudgeApi, type Json } from '../judges/judge-api.js';
import type { Asked, Script } from '../judges/model-endpoint.js';

const says = (content: string, more: object = {}): Script => ({ do: 'answer', content, ...more });
const OVER = ['done', 'failed', 'cancelled'];
/** Cost of a call of gpt-4o with the tokens that the endpoint states. */
const CALL = 0.0035;

describe('runs of experiments by the server', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let api: JudgeApi;

  before(async () => {
    bench = await JudgeBench.boot();
    ({ api } = bench);
    await scene(api);
  });
  beforeEach(() => bench.endpoint.reset(({ last }) => says(`Answer to ${last}`)));
  after(() => bench.dispose());

  const BASE = { dataset: 'tickets', prompt_slug: 'support', model: 'gpt-4o' };
  const run = (more: Json = {}, by = api): Promise<Json> =>
    by.expect(201, 'POST', 'experiments:run', { ...BASE, ...more });
  const get = ({ id }: Json, by = api): Promise<Json> => by.expect(200, 'GET', `experiments/${id}`);
  const over = (experiment: Json, by = api) =>
    eventually(
      () => get(experiment, by),
      ({ run: { status } }) => OVER.includes(status),
    );
  const resultsOf = async ({ id }: Json, by = api): Promise<Json[]> =>
    (await by.expect(200, 'GET', `experiments/${id}/results?limit=500`)).results;
  const spansOf = ({ id }: Json): Promise<Json[]> =>
    api.expect(200, 'GET', `/spans?experiment_id=${id}&limit=100&sort_order=asc`);

  it('asks a model for every row and repetition, and finishes', async () => {
    const started = await run({ repetitions: 2, temperature: 0.5, tags: ['baseline'] });
    expect(started).to.deep.include({
      status: 'running',
      subject: { prompt_slug: 'support', prompt_version: 1, model: 'gpt-4o' },
      parameters: { temperature: 0.5 },
      tags: ['baseline'],
      name: 'support v1, gpt-4o',
    });
    const ended = await over(started);
    expect(ended['status']).to.equal('finished');
    expect(ended['run']).to.deep.include({ status: 'done', total: 6, done: 6, error: null, max_cost: null });
    expect(ended['run'].cost).to.be.closeTo(6 * CALL, 1e-9);
    expect(ended['figures']).to.deep.include({
      results: 6,
      rows: 3,
      errors: 0,
      input_tokens: 6000,
      output_tokens: 600,
    });
    expect(ended['figures'].cost).to.be.closeTo(6 * CALL, 1e-9);
    const asked = bench.endpoint.asked.map(({ body }) => body);
    expect(asked).to.have.length(6);
    expect(asked[0]).to.deep.include({ model: 'gpt-4o', temperature: 0.5 });
    expect(asked[0].messages).to.have.length(1);
    const results = await resultsOf(started);
    expect(results.map(({ row_id, repetition, output_data }) => [row_id, repetition, output_data])).to.deep.equal(
      ['r1', 'r2', 'r3'].flatMap((id, index) =>
        [1, 2].map((repetition) => [id, repetition, `Answer to Help: Question ${index + 1} {"vip":true}`]),
      ),
    );
    for (const { cost, input_tokens, output_tokens, duration_ms, id, trace_id } of results) {
      expect([cost, input_tokens, output_tokens]).to.deep.equal([CALL, 1000, 100]);
      expect(duration_ms).to.be.a('number');
      expect(trace_id).to.equal(id);
    }
  });

  it('stores each result as a trace of its own, which is in no production list and none of the internal calls', async () => {
    const experiment = await run({ rows: ['r2'] });
    await over(experiment);
    const spans = await spansOf(experiment);
    const root = spans.find(({ kind }) => kind === 'experiment') as Json;
    const call = spans.find(({ kind }) => kind === 'llm') as Json;
    expect(spans).to.have.length(2);
    expect(call).to.deep.include({ trace_id: root['id'], parent_span_id: root['id'], cost: CALL, name: 'run support' });
    expect(root).to.deep.include({ trace_id: root['id'], status: 'ok', cost: null });
    expect(root['duration_ms']).to.equal(call['duration_ms']);
    for (const list of ['spans', 'traces'])
      expect(await api.expect(200, 'GET', `/${list}?started_after=1h`), list).to.deep.equal([]);
    const traces = await api.expect(200, 'GET', `/traces?experiment_id=${experiment['id']}`);
    expect(traces).to.have.length(1);
    expect(traces[0]).to.deep.include({ id: root['id'], cost: CALL });
    await api.expect(204, 'DELETE', `experiments/${experiment['id']}`);
    for (const { id } of spans)
      expect(await api.expect(200, 'GET', `/spans?id=${id}&experiments=true`)).to.deep.equal([]);
  });

  it('sends the input of the row where the prompt has no variables', async () => {
    await over(await run({ prompt_slug: 'plain', rows: 1 }));
    expect(bench.endpoint.asked[0]?.body.messages).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '{"question":"Question 1","meta":{"vip":true}}' },
    ]);
  });

  it('fills the messages of a chat version, and puts those of the row in their place', async () => {
    const said = [
      { role: 'human', content: 'Hello {{question}}' },
      { role: 'ai', content: 'Hi' },
    ];
    const row = { id: 'r1', question: 'Why?', history: said };
    await api.expect(201, 'POST', '/v1/datasets', { name: 'chats' });
    await api.expect(200, 'POST', '/v1/datasets/chats/versions', { rows: [row, { ...row, id: 'r2', history: [] }] });
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { type: 'placeholder', name: 'history' },
      { role: 'user', content: 'Q: {{question}}' },
    ];
    const ensure = (more: Json) =>
      api.expect(200, 'POST', '/v1/tasks/chatty/prompt/versions/ensure', { messages, ...more });
    await ensure({ config: { temperature: 1 } });
    await over(await run({ prompt_slug: 'chatty', dataset: 'chats' }));
    const [system, user] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Q: Why?' },
    ];
    expect(bench.endpoint.asked.map(({ body }) => body.messages)).to.have.deep.members([
      [system, { role: 'user', content: 'Hello {{question}}' }, { role: 'assistant', content: 'Hi' }, user],
      [system, user],
    ]);
    await ensure({ messages: [{ role: 'tool', content: '{{question}}' }] });
    const refused = await api.refused('POST', 'experiments:run', { ...BASE, prompt_slug: 'chatty', dataset: 'chats' });
    expect(refused).to.have.all.keys('/prompt_slug');
  });

  it('fills variables from the columns that are named', async () => {
    await over(await run({ rows: 1, variables: { question: 'expected' } }));
    expect(bench.endpoint.asked[0]?.last).to.equal('Help: Expected 1 {"vip":true}');
  });

  it('estimates without asking', async () => {
    const estimate = await api.expect(200, 'POST', 'experiments:run', { ...BASE, repetitions: 4, dry_run: true });
    expect(estimate).to.deep.include({
      model: 'gpt-4o',
      rows: 3,
      calls: 12,
      output_tokens: 3600,
      cost_unknown_reason: null,
    });
    expect(estimate.cost).to.be.greaterThan(0.036);
    const unpriced = { ...BASE, model: 'unheard-of', dry_run: true };
    expect(await api.expect(200, 'POST', 'experiments:run', unpriced)).to.deep.include({ cost: null });
    expect(bench.endpoint.asked).to.have.length(0);
  });

  it('says what is wrong with a request', async () => {
    const refused = (more: Json) => api.refused('POST', 'experiments:run', { ...BASE, ...more });
    await api.expect(404, 'POST', 'experiments:run', { ...BASE, dataset: 'nothing' });
    await api.expect(404, 'POST', 'experiments:run', { ...BASE, dataset_version: 7 });
    await api.expect(404, 'POST', 'experiments:run', { ...BASE, prompt_slug: 'nothing' });
    await api.expect(404, 'POST', 'experiments:run', { ...BASE, prompt_version: 9 });
    await api.expect(404, 'POST', 'experiments:run', { ...BASE, prompt_tag: 'live' });
    expect(await refused({ prompt_slug: 'lacking' })).to.have.all.keys('/variables/absent', '/variables/expected');
    expect(await refused({ variables: { other: 'question' } })).to.have.all.keys('/variables/other');
    expect(await refused({ rows: ['r1', 'r9'] })).to.have.all.keys('/rows/1');
    expect(await refused({ prompt_version: 1, prompt_tag: 'live' })).to.have.all.keys('/prompt_tag');
    expect(await refused({ model: 'unheard-of', max_cost: 1 })).to.have.all.keys('/max_cost');
    expect(await refused({ repetitions: 33 })).to.have.all.keys('/repetitions');
    expect((await api.expect(200, 'GET', 'experiments?name=support')).total).to.equal(0);
  });

  it('is refused to keys that only send', async () => {
    const { key } = await api.expect(201, 'POST', 'api-keys', { name: 'exporter', access: 'ingest' });
    const path = `/projects/${bench.server.projectId}/experiments:run`;
    expect((await bench.server.request('POST', path, { body: BASE, key })).status).to.equal(403);
  });

  it('tries again what may succeed, and stores an error that stays', async () => {
    const failed = new Map<string, number>();
    bench.endpoint.reset(({ last }: Asked) => {
      const times = (failed.get(last) ?? 0) + 1;
      failed.set(last, times);
      if (last.includes('Question 1') && times < 3) return { do: 'status', status: 500 };
      if (last.includes('Question 2')) return { do: 'status', status: 503 };
      if (last.includes('Question 3')) return { do: 'status', status: 400, body: { error: { message: 'too long' } } };
      return says('Fine');
    });
    const ended = await over(await run());
    expect(ended).to.deep.include({ status: 'finished' });
    expect(ended['figures']).to.deep.include({ results: 3, errors: 2 });
    expect([...failed.values()].sort()).to.deep.equal([1, 3, 3]);
    const [first, second, third] = await resultsOf(ended);
    expect(first).to.deep.include({ has_error: false, output_data: 'Fine', cost: CALL });
    expect(second).to.deep.include({ has_error: true, output_data: '' });
    expect(third?.['error_message']).to.be.a('string');
  });

  it('stops with its reason where the endpoint refuses every call', async () => {
    bench.endpoint.reset(() => ({ do: 'status', status: 401 }));
    const ended = await over(await run());
    expect(ended).to.deep.include({ status: 'canceled' });
    expect(ended['run'].status).to.equal('failed');
    expect(ended['run'].error).to.be.a('string').and.not.equal('');
    expect(ended['figures'].results).to.equal(0);
  });

  it('stops before it costs more than it may', async () => {
    const ended = await over(await run({ repetitions: 8, max_cost: 5.5 * CALL }));
    expect(ended).to.deep.include({ status: 'canceled' });
    expect(ended['run'].status).to.equal('failed');
    expect(ended['run'].error).to.include('max_cost');
    expect(ended['run'].max_cost).to.equal(5.5 * CALL);
    expect(ended['figures'].cost).to.be.closeTo(5 * CALL, 1e-9);
    expect(bench.endpoint.asked).to.have.length(5);
    await api.expect(409, 'POST', `experiments/${ended['id']}/results`, { row_id: 'r1', output_data: 'x' });
  });

  it('counts what it expects of answers whose cost is not known', async () => {
    bench.endpoint.reset(() => says('Fine.', { usage: null }));
    const ended = await over(await run({ repetitions: 32, max_cost: 0.02 }));
    expect(ended['run']).to.include({ status: 'failed' });
    expect(ended['run'].error).to.include('max_cost');
    expect(bench.endpoint.asked.length).to.be.within(1, 20);
  });

  it('does not fill a prompt in that would be too large', async () => {
    await api.expect(200, 'POST', '/v1/tasks/long/prompt/versions/ensure', { content: '{{text}}'.repeat(100_000) });
    await api.expect(201, 'POST', '/v1/datasets', { name: 'long' });
    const text = Array.from({ length: 50_000 }, (_none, index) => index);
    await api.expect(200, 'POST', '/v1/datasets/long/versions', { rows: [{ id: 'r1', text }] });
    const began = performance.now();
    const long = { dataset: 'long', prompt_slug: 'long' };
    const estimate = await api.expect(200, 'POST', 'experiments:run', { ...BASE, ...long, dry_run: true });
    expect(estimate).to.include({ input_tokens: 0 });
    const messages = Array.from({ length: 500 }, () => ({ type: 'placeholder', name: 'text' }));
    await api.expect(200, 'POST', '/v1/tasks/placed/prompt/versions/ensure', { messages });
    const placed = { ...BASE, ...long, prompt_slug: 'placed', dry_run: true };
    expect(await api.expect(200, 'POST', 'experiments:run', placed)).to.include({ input_tokens: 0 });
    const ended = await over(await run(long));
    expect(performance.now() - began).to.be.below(30_000);
    expect(ended['figures']).to.include({ results: 1, errors: 1 });
    expect((await resultsOf(ended))[0]?.['error_message']).to.include('more than 2097152 bytes');
    expect(bench.endpoint.asked).to.deep.equal([]);
  });

  it('is stopped by :cancel and by deleting the experiment', async () => {
    for (const end of ['cancel', 'delete']) {
      bench.endpoint.reset(() => ({ do: 'hang' }));
      const experiment = await run({ repetitions: 32 });
      await eventually(
        async () => bench.endpoint.underWay,
        (calls) => calls === 2,
      );
      if (end === 'cancel') {
        const { status, run: job } = await api.expect(200, 'POST', `experiments/${experiment['id']}:cancel`);
        expect([status, job.status]).to.deep.equal(['canceled', 'cancelled']);
      } else await api.expect(204, 'DELETE', `experiments/${experiment['id']}`);
      await eventually(
        async () => bench.endpoint.underWay,
        (calls) => calls === 0,
      );
      expect(bench.endpoint.asked, end).to.have.length(2);
    }
  });

  it('is stopped by deleting the dataset', async () => {
    let release: () => void = () => undefined;
    const after = new Promise<void>((resolve) => (release = resolve));
    bench.endpoint.reset(() => says('late', { after }));
    await api.expect(201, 'POST', '/v1/datasets', { name: 'gone' });
    await api.expect(200, 'POST', '/v1/datasets/gone/versions', { rows: rows(60) });
    const experiment = await run({ dataset: 'gone' });
    await eventually(
      async () => bench.endpoint.underWay,
      (calls) => calls === 2,
    );
    await api.call('DELETE', '/v1/datasets/gone');
    release();
    const ended = await over(experiment);
    expect(ended).to.deep.include({ status: 'canceled' });
    expect(ended['run'].error).to.equal('The dataset of the experiment was deleted');
    expect(bench.endpoint.asked.length).to.be.below(60);
  });

  it('is refused while too many are unfinished, and leaves no experiment then', async () => {
    bench.endpoint.reset(() => ({ do: 'hang' }));
    const all = await Promise.all(Array.from({ length: 10 }, () => run({ rows: 1 })));
    await api.expect(200, 'POST', `experiments/${all[0]?.['id']}/tags/in-use:pin`);
    const { total } = await api.expect(200, 'GET', 'experiments');
    await api.expect(409, 'POST', 'experiments:run', { ...BASE, tags: ['in-use'] });
    expect((await api.expect(200, 'GET', 'experiments')).total).to.equal(total);
    // It was not even there for a moment: a crash would have left it.
    const counted = withDatabase(bench.server, (db) =>
      db
        .prepare(
          "SELECT seq - (SELECT max(seq) FROM experiments) AS gap FROM sqlite_sequence WHERE name = 'experiments'",
        )
        .get(),
    );
    expect(counted).to.deep.equal({ gap: 0 });
    expect((await get(all[0] ?? {}))['tags']).to.deep.equal(['in-use']);
    await api.expect(409, 'PATCH', `experiments/${all[0]?.['id']}`, { repetitions: 2 });
    for (const { id } of all) await api.expect(200, 'POST', `experiments/${id}:cancel`);
  });

  it('keeps no other project waiting', async () => {
    const other = bench.project('other');
    await scene(other);
    bench.endpoint.reset(({ body }) => (body.model === 'slow' ? { do: 'hang' } : says('Fine')));
    const slow = await Promise.all([1, 2, 3].map(() => run({ model: 'slow' })));
    const ended = await over(await run({}, other), other);
    expect(ended).to.deep.include({ status: 'finished' });
    await other.expect(404, 'GET', `experiments/${slow[0]?.['id']}`);
    for (const { id } of slow) await api.expect(200, 'POST', `experiments/${id}:cancel`);
  });
});

function rows(count: number): Json[] {
  return Array.from({ length: count }, (_none, index) => ({
    id: `r${index + 1}`,
    question: `Question ${index + 1}`,
    meta: { vip: true },
    expected: `Expected ${index + 1}`,
  }));
}

async function scene(api: JudgeApi): Promise<void> {
  await api.expect(201, 'POST', '/v1/datasets', {
    name: 'tickets',
    roles: { question: 'input', meta: 'input', expected: 'expected' },
  });
  await api.expect(200, 'POST', '/v1/datasets/tickets/versions', { rows: rows(3) });
  const prompt = (slug: string, content: string) =>
    api.expect(200, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content });
  await prompt('support', 'Help: {{question}} {{ meta }}');
  await prompt('plain', 'Be brief.');
  await prompt('lacking', '{{question}} {{absent}} {{expected}}');
}
