import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { isHeldOut } from '../../src/features/trials/held-out.js';
import { sampleHash } from '../../src/engine/traces/model/judged/sample.js';
import { until } from '../harness/until.js';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';
import { answer, failing, type Asked, type ModelEndpoint } from './model-endpoint.js';

const OF_TRACES = { subject: 'trace', quiet_seconds: 1 };
const DAY = 86_400_000;

describe('judges of traces and sessions', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  let endpoint: ModelEndpoint;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api, endpoint } = bench);
  });
  after(() => bench.dispose());
  beforeEach(() => endpoint.reset());
  afterEach(() => bench.clear());

  /** A trace of an agent that called a model and tools. */
  function trace({ spans = 3, ...root }: Json = {}): [Json, ...Json[]] {
    const [id, trace_id] = [randomUUID(), randomUUID()];
    const [from, session_id] = [Date.now() - 60_000, root['session_id']];
    const below = Array.from({ length: Number(spans) - 1 }, (_none, index) =>
      finished({
        ...{ trace_id, parent_span_id: id, session_id, name: `tool ${index}`, kind: 'tool' },
        ...{ started_at: new Date(from + 10 + index).toISOString(), input_data: `Query ${index}` },
        output_data: `Found ${index}`,
      }),
    );
    const named = { id, trace_id, name: 'agent', kind: 'agent', started_at: new Date(from).toISOString() };
    return [finished({ ...named, input_data: 'Where is my parcel?', output_data: 'On its way.', ...root }), ...below];
  }
  const late = ([root]: readonly Json[], more: Json = {}): Json =>
    finished({ trace_id: root?.['trace_id'], session_id: root?.['session_id'], name: 'late', kind: 'tool', ...more });
  const whole = ([root]: readonly Json[]): Json => ({ id: root?.['trace_id'] });
  const about = (asked: Asked, id: unknown): boolean => JSON.stringify(asked.body.messages).includes(String(id));
  const run = (judge: Json, body: Json): Promise<Json> =>
    api.expect(202, 'POST', `judges/${judge['id']}:run`, body) as Promise<Json>;
  const evaluations = (judge: Json, count: number): Promise<Json[]> =>
    eventually(
      () => api.evaluations(judge),
      (found) => found.length >= count,
    );

  it('evaluate a trace once it is quiet, once, and again when a span arrives late', async () => {
    const judge = await bench.make({ ...OF_TRACES, name: 'Whole', filters: { kinds: ['agent'] } });
    expect(judge).to.include({ subject: 'trace', quiet_seconds: 1, context_tokens: null, enabled: true });
    const spans = trace();
    await api.post(...spans.slice(1));
    await api.post(spans[0]);
    const waiting = await api.until(judge, whole(spans), ['quiet', 'queued', 'running', 'evaluated']);
    expect(waiting).to.include({ span_id: spans[0]['id'], subject_id: spans[0]['trace_id'] });
    const { explanation, evaluation_id } = await api.evaluated(judge, spans[2] ?? {});
    expect(explanation).to.match(/^It was evaluated at [^ ]+\.$/);
    const [evaluation, ...others] = await api.evaluations(judge);
    expect(others).to.deep.equal([]);
    expect(evaluation).to.include({
      ...{ id: evaluation_id, span_id: spans[0]['id'], trace_id: spans[0]['trace_id'], origin: 'automatic' },
      ...{ subject: 'trace', subject_id: spans[0]['trace_id'], evaluation_result: true },
    });
    const [asked] = endpoint.asked;
    expect(asked?.body.messages[0].content)
      .to.contain('one recorded trace of a program')
      .and.contain('the trace passes');
    expect(asked?.last).to.match(
      /^The trace to evaluate:\n\n<trace-\w+>\n\{"name":"agent","kind":"trace","spans":3\}\n/,
    );
    for (const text of ['Where is my parcel?', 'On its way.', 'tool 0', 'Query 1', 'Found 1'])
      expect(asked?.last).to.contain(text);
    const [call] = await api.callsOf(judge);
    expect(call?.['attributes'].spanhouse).to.include({ span_id: spans[0]['id'], trace_id: spans[0]['trace_id'] });
    const { evaluations: ofRoot } = await api.expect(200, 'GET', `spans/${spans[0]['id']}/evaluations`);
    expect(ofRoot).to.have.length(1);
    expect(ofRoot[0]).to.include({ judge_name: 'Whole', subject: 'trace' });

    // It matches no filter, but the trace was evaluated.
    await api.post(late(spans, { output_data: 'A late finding' }));
    const again = await evaluations(judge, 2);
    expect(again.map(({ subject_id }) => subject_id)).to.deep.equal([spans[0]['trace_id'], spans[0]['trace_id']]);
    expect(endpoint.asked[1]?.last).to.contain('A late finding').and.contain('"spans":4');
    // One that matches, of another trace, and spans that match nothing.
    const other = trace({ kind: 'chain' });
    await api.post(...other);
    await sleep(1_500);
    expect(await api.explain(judge, whole(other))).to.include({ answer: 'filtered', evaluation_id: null });
    expect(endpoint.asked).to.have.length(2);
  });

  it('explain what is not there, came before or is not in the sample', async () => {
    const before = trace();
    await api.post(...before);
    const judge = await bench.make({ ...OF_TRACES, sample_rate: 0.5 });
    const answers = async (spans: readonly Json[]) => (await api.explain(judge, whole(spans)))['answer'] as string;
    expect(await answers([{ trace_id: randomUUID() }])).to.equal('not_found');
    expect(await answers(before)).to.equal('arrived_before');
    const many = Array.from({ length: 8 }, () => trace({ spans: 2 }));
    await api.post(...many.flat());
    const included = many.filter(([root]) => sampleHash(root['trace_id'], judge['id']) < 0.5);
    await evaluations(judge, included.length);
    for (const spans of many)
      if (!included.includes(spans))
        await eventually(
          () => answers(spans),
          (found) => found === 'sampled_out',
        );
    expect(await api.evaluations(judge)).to.have.length(included.length);
    await api.patch(judge['id'], { enabled: false });
    const disabled = trace();
    await api.post(...disabled);
    expect(await answers(disabled)).to.equal('judge_disabled');
  });

  it('hold up no other judge when very many of theirs wait, and miss nothing', async () => {
    const waits = await bench.make({ subject: 'session', quiet_seconds: 86_400, name: 'Day' });
    const [ofTraces, ofSpans] = [
      await bench.make({ ...OF_TRACES, name: 'Soon' }),
      await bench.make({ name: 'At once', filters: { kinds: ['agent'] } }),
    ];
    await withStore(bench, (database) =>
      database
        .prepare(
          `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)
           INSERT INTO judge_runs (id, project_id, judge_id, span_id, trace_id, span_started_at, origin, state, attempts, next_attempt_at,
             created_at, updated_at, subject_id)
           SELECT 'run' || n, @project, @judge, 'span' || n, 'trace' || n, 0, 'automatic', 'queued', 0, @due, 0, 0, 'session' || n FROM n`,
        )
        .run({ project: api.server.projectId, judge: waits['id'], due: (Date.now() + 0.8 * DAY) * 1_000 }),
    );
    const session_id = randomUUID();
    const spans = trace({ session_id });
    await api.post(...spans);
    await api.evaluated(ofSpans, spans[0]);
    await api.evaluated(ofTraces, whole(spans));
    expect(await api.explain(waits, { id: session_id })).to.include({ answer: 'pending' });
    await withStore(bench, (database) =>
      database.prepare(`DELETE FROM judge_runs WHERE judge_id = ? AND id GLOB 'run*'`).run(waits['id']),
    );
    const later = trace();
    await api.post(...later);
    await api.evaluated(ofSpans, later[0]);
    await api.until(waits, { id: session_id }, 'quiet');
    expect(await api.runs(waits)).to.have.length(1);
    for (const judge of [ofSpans, ofTraces]) await evaluations(judge, 2);
    expect([await api.evaluations(ofSpans), await api.evaluations(ofTraces)].map(({ length }) => length)).to.deep.equal(
      [2, 2],
    );
  });

  it('never evaluate calls of the server, nor traces of experiments by themselves', async () => {
    const judge = await bench.make({ ...OF_TRACES, name: 'Own' });
    const spans = trace();
    await api.post(...spans);
    await api.evaluated(judge, whole(spans));
    const [call] = await api.callsOf(judge);
    await api.expect(201, 'POST', '/v1/datasets', { name: 'whole' });
    await api.expect(200, 'POST', '/v1/datasets/whole/versions', { rows: [{ id: 'r1', question: 'Q' }] });
    const { id } = await api.expect(201, 'POST', 'experiments', { name: 'tried', dataset: 'whole' });
    const [said] = await api.expect(200, 'POST', `experiments/${id}/results`, [{ row_id: 'r1', output_data: 'Said' }]);
    // A step of the program that was tried is not marked itself.
    const { trace_id } = await api.expect(200, 'GET', `/spans/${said.id}`);
    const ofSpans = await bench.make({ name: 'Steps', filters: { names: ['tried step'] } });
    const step = finished({ trace_id, parent_span_id: said.id, name: 'tried step' });
    await api.post(step);
    await sleep(1_800);
    expect(endpoint.asked).to.have.length(1);
    expect(await api.evaluations(ofSpans)).to.deep.equal([]);
    expect(await api.explain(judge, { id: trace_id })).to.include({ answer: 'filtered' });
    expect(await api.explain(judge, { id: call?.['trace_id'] })).to.include({ answer: 'own_call' });
    expect(
      await api.refused('POST', `judges/${judge['id']}:run`, { trace_ids: [call?.['trace_id']] }),
    ).to.have.all.keys('/trace_ids/0');
    expect(await run(judge, { experiment_id: id })).to.include({ queued: 1 });
    const { judges } = await eventually(
      () => api.expect(200, 'GET', `experiments/${id}`),
      (found) => found.judges[0]?.evaluated === 1,
    );
    expect(judges[0]).to.include({ passed: 1 });
    const { results } = await api.expect(200, 'GET', `experiments/${id}/results`);
    const [, ofResult] = await api.evaluations(judge);
    expect(ofResult).to.include({ span_id: results[0].id, subject: 'trace', origin: 'requested' });
    expect(endpoint.asked[1]?.last).to.contain('Said');
  });

  it('run on traces that are named, and on the newest', async () => {
    const judge = await bench.make({ ...OF_TRACES, enabled: false, filters: { names: ['agent'] } });
    const [first, second, unmatched] = [trace(), trace(), trace({ name: 'other' })];
    await api.post(...first, ...second, ...unmatched);
    const ids = [first[0]['trace_id'], unmatched[0]['trace_id']];
    const { queued, runs } = await run(judge, { trace_ids: [...ids, ids[0]] });
    expect(queued).to.equal(2);
    expect(runs.map(({ subject_id }: Json) => subject_id)).to.have.members(ids);
    expect((await evaluations(judge, 2)).map(({ origin }) => origin)).to.deep.equal(['requested', 'requested']);
    const backfilled = await run(judge, { backfill: 2 });
    expect(backfilled['runs'].map(({ subject_id }: Json) => subject_id)).to.have.members([
      first[0]['trace_id'],
      second[0]['trace_id'],
    ]);
    await evaluations(judge, 4);
    const path = `judges/${judge['id']}:run`;
    expect(await api.refused('POST', path, { span_ids: [first[0]['id']] })).to.deep.equal({
      '/span_ids': 'is for judges of spans; this judge evaluates traces',
    });
    expect(await api.refused('POST', path, { session_ids: [randomUUID()] })).to.have.all.keys('/session_ids');
    expect(await api.refused('POST', path, { trace_ids: [randomUUID()] })).to.deep.equal({
      '/trace_ids/0': 'there is no trace with this id that has spans',
    });
    expect(await api.refused('POST', path, { trace_ids: [ids[0]], backfill: 1 })).to.have.all.keys('');
    const foreign = bench.project('elsewhere');
    const theirs = await foreign.create({ ...OF_TRACES, enabled: false });
    expect(await foreign.refused('POST', `judges/${theirs['id']}:run`, { trace_ids: [ids[0]] })).to.have.all.keys(
      '/trace_ids/0',
    );
    expect(await foreign.explain(theirs, whole(first))).to.include({ answer: 'not_found' });
  });

  it('evaluate the conversation of a session, with its newest turns', async () => {
    const judge = await bench.make({ subject: 'session', quiet_seconds: 1, filters: { kinds: ['agent'] } });
    const session_id = randomUUID();
    const turns = ['Hello', 'And my parcel?'].map((input_data, index) =>
      trace({
        session_id,
        input_data,
        output_data: `Answer ${index}`,
        started_at: new Date(Date.now() - 90_000 + index).toISOString(),
      }),
    );
    // The span that matches comes before the one that names its session; of another session, none does.
    const [named, unmatched] = [randomUUID(), randomUUID()];
    const [first, ...below] = trace({ spans: 2 });
    await api.post(first);
    await api.post(...below.map((span) => ({ ...span, session_id: named })));
    await api.post(...trace({ session_id: unmatched, kind: 'chain' }));
    await api.post(...(turns[0] ?? []));
    await api.post(...(turns[1] ?? []));
    expect(await api.evaluated(judge, { id: named })).to.include({ span_id: first['id'] });
    await api.until(judge, { id: unmatched }, 'filtered');
    await eventually(
      () => api.runs(judge),
      (left) => left.length === 0,
    );
    endpoint.asked.splice(0, Infinity, ...endpoint.asked.filter((asked) => about(asked, 'Hello')));
    const { subject_id, span_id } = await api.evaluated(judge, { id: session_id });
    expect([subject_id, span_id]).to.deep.equal([session_id, turns[0]?.[0]['id']]);
    expect(await api.explain(judge, turns[1]?.[1] ?? {})).to.include({ answer: 'evaluated', subject_id: session_id });
    const made = await api.evaluations(judge);
    expect(made.map((evaluation) => evaluation['subject_id'])).to.have.members([named, session_id]);
    expect(made[0]).to.include({ subject: 'session' });
    const [asked] = endpoint.asked;
    expect(asked?.last).to.match(/^The conversation to evaluate:/);
    for (const text of ['Hello', 'Answer 0', 'And my parcel?', 'Answer 1']) expect(asked?.last).to.contain(text);
    expect(await run(judge, { session_ids: [session_id] })).to.include({ queued: 1 });
    await evaluations(judge, 3);
    const { id: unknown } = await api.expect(201, 'POST', 'experiments', { name: 'none', dataset: 'whole' });
    expect(await api.refused('POST', `judges/${judge['id']}:run`, { experiment_id: unknown })).to.have.all.keys(
      '/experiment_id',
    );
  });

  it('learn from what people correct of a trace', async () => {
    const judge = await bench.make({ ...OF_TRACES, filters: { kinds: ['agent'] } });
    const [first, second] = [trace({ output_data: 'No idea' }), trace()];
    await api.post(...first);
    await api.evaluated(judge, whole(first));
    await api.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${first[0]['id']}/feedback`, {
      ...{ judge_id: judge['id'], thumbs_up: false, reason: 'It helped nobody' },
    });
    await api.post(...second);
    await api.evaluated(judge, whole(second));
    const shown = JSON.stringify(endpoint.asked.at(-1)?.body.messages);
    expect(shown).to.contain('It helped nobody').and.contain('No idea');
    const [, { judge_version } = { judge_version: '' }] = await api.evaluations(judge);
    expect(judge_version).to.match(/\/e1$/);
  });

  it('are tried on whole traces, to see what corrections are worth', async () => {
    const judge = await bench.make({ ...OF_TRACES, enabled: false });
    const idsOf = (heldOut: boolean) =>
      Array.from({ length: 200 }, () => randomUUID() as string)
        .filter((id) => isHeldOut(id) === heldOut)
        .slice(0, 6);
    const traces = [...idsOf(true), ...idsOf(false)].map((id) => trace({ spans: 2, id }));
    await api.post(...traces.flat());
    await run(judge, { trace_ids: traces.map(([root]) => root['trace_id'] as string) });
    await evaluations(judge, traces.length);
    for (const [root] of traces)
      await api.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${root['id']}/feedback`, {
        ...{ judge_id: judge['id'], thumbs_up: false, reason: 'Not helpful' },
      });
    endpoint.reset();
    const path = `judges/${judge['id']}/calibration`;
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    const { status, result } = await eventually(
      () => api.expect(200, 'GET', `${path}/evaluations/${id}`),
      (trial) => ['done', 'failed'].includes(trial.status as string),
    );
    expect([status, result.compared]).to.deep.equal(['done', 6]);
    expect(endpoint.asked.filter(({ last }) => last.includes('Found 0'))).to.have.length(12);

    // As if no evaluation had shown the trace: it may have come to a session later, or evaluations from elsewhere.
    await withStore(bench, (database) => database.exec('DELETE FROM judged_traces'));
    const calls = () => api.expect(200, 'GET', `/spans?spanhouse.calibration=${id}&limit=50`) as Promise<Json[]>;
    expect(await calls()).to.have.length(12);
    const [[root, below] = [{}, {}]] = traces as [Json, Json][];
    await api.expect(204, 'DELETE', `/spans/${below['id']}`);
    expect(await calls()).to.deep.equal([]);
    const { result: left } = await api.expect(200, 'GET', `${path}/evaluations/${id}`);
    expect(left.spans.map(({ span_id }: Json) => span_id))
      .to.have.length(5)
      .and.not.include(root['id']);
  });

  it('fill in the outline where the instruction says', async () => {
    const judge = await bench.make({
      ...OF_TRACES,
      prompt: 'Look: {{outline}} Asked: {{input}}',
      context_kinds: ['agent'],
    });
    const spans = trace();
    await api.post(...spans);
    await api.evaluated(judge, whole(spans));
    const [asked] = endpoint.asked;
    expect(asked?.last).to.match(
      /^Look: <outline-(\w+)>\n[^]*tool 1[^]*\n<\/outline-\1> Asked: <input-\1>\nWhere is my parcel\?\n/,
    );
    expect(asked?.last).to.not.contain('Query 1');
  });

  it('evaluate a trace again whose span comes while the model is asked', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.reset(() => answer(failing, held));
    const judge = await bench.make({ ...OF_TRACES, filters: { kinds: ['agent'] } });
    const spans = trace();
    await api.post(...spans);
    await eventually(
      () => Promise.resolve(endpoint.asked.length),
      (asked) => asked === 1,
    );
    await api.post(late(spans, { output_data: 'Found meanwhile' }));
    // The feed has seen it by then.
    await api.until(judge, whole(spans), ['running']);
    await sleep(2_500);
    release();
    const found = await evaluations(judge, 2);
    expect(found.map(({ subject_id }) => subject_id)).to.deep.equal([spans[0]['trace_id'], spans[0]['trace_id']]);
    expect(endpoint.asked[1]?.last).to.contain('Found meanwhile');
  });

  it('are previewed with what they are shown and, within 5 %, what they cost', async () => {
    const other = bench.project('previewed');
    const long = 'The parcel left the depot at noon. '.repeat(20);
    const traces = Array.from({ length: 6 }, (_none, index) =>
      trace({ spans: 50, tags: { part: 'preview' }, output_data: `${long}${index}` }).map((span) => ({
        ...span,
        input_data: `${long}${span['input_data']}`,
      })),
    );
    await other.post(...traces.flat());
    const draft = { ...OF_TRACES, name: 'Draft', evaluation_type: 'binary', prompt: 'Was the customer helped?' };
    const preview = (body: Json) => other.expect(200, 'POST', 'judges:preview', body) as Promise<Json>;
    const filters = { tags: { part: 'preview' } };
    const { matches, estimate, sample, evaluations_per_day, tried } = await preview({ ...draft, filters, try: true });
    expect([matches, evaluations_per_day, estimate.spans, sample.length]).to.deep.equal([6, 6, 6, 5]);
    expect(sample[0].outline).to.contain('agent');
    expect(tried[0]).to.include({ subject_id: sample[0].subject_id, span_id: sample[0].id, failure: null });
    const judge = await other.create({ ...draft, filters });
    endpoint.reset();
    await other.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: 6 });
    await eventually(
      () => other.evaluations(judge),
      (found) => found.length === 6,
    );
    const tokens = endpoint.asked.map(({ body }) => {
      const texts: string[] = body.messages.map(({ content }: Json) => content);
      return Math.ceil([...texts, JSON.stringify(body.response_format.json_schema.schema)].join('').length / 4);
    });
    const mean = tokens.reduce((sum, each) => sum + each, 0) / tokens.length;
    expect(mean).to.be.within(4_000, 9_000);
    expect(estimate.input_tokens_per_evaluation / mean).to.be.within(0.95, 1.05);
    // What was quiet before a further span that matches would have been evaluated once more.
    await sleep(1_100);
    await other.post(late(traces[0] ?? [], { tags: { part: 'preview' } }));
    expect(await preview({ ...draft, filters })).to.include({ matches: 6, evaluations_per_day: 7 });
    const some = traces.slice(0, 2).map(([root]) => (root as Json | undefined)?.['trace_id'] as string);
    const named = await preview({ ...draft, try: some });
    expect(named['tried'].map(({ subject_id }: Json) => subject_id)).to.deep.equal(some);
    expect(await other.refused('POST', 'judges:preview', { ...draft, try: [randomUUID()] })).to.have.all.keys('/try/0');
  });

  it('are refused settings of other subjects, and never change their own', async () => {
    const named = { name: 'x', evaluation_type: 'binary', prompt: 'x' };
    const refused = (body: Json) => api.refused('POST', 'judges', { ...named, ...body });
    expect(await refused({ quiet_seconds: 5, context_tokens: 900, context_kinds: ['llm'] })).to.have.all.keys(
      ...['/quiet_seconds', '/context_tokens', '/context_kinds'],
    );
    expect(await refused({ subject: 'project', quiet_seconds: 0 })).to.have.all.keys('/subject', '/quiet_seconds');
    expect(await refused({ subject: 'trace', quiet_seconds: 86_401, context_tokens: 499 })).to.have.all.keys(
      ...['/quiet_seconds', '/context_tokens'],
    );
    expect(await refused({ subject: 'session', context_kinds: ['llm'] })).to.have.all.keys('/context_kinds');
    const ofTraces = await bench.make({ subject: 'trace', context_kinds: ['llm', 'llm'], enabled: false });
    expect(ofTraces).to.deep.include({ quiet_seconds: null, context_kinds: ['llm'] });
    const judge = await bench.make({ subject: 'session', enabled: false });
    const path = `judges/${judge['id']}`;
    expect(await api.refused('PATCH', path, { subject: 'trace' })).to.deep.equal({
      '/subject': 'cannot be changed from session: create another judge',
    });
    expect(await api.patch(judge['id'], { subject: 'session', quiet_seconds: 60 })).to.include({ quiet_seconds: 60 });
    const ofSpans = await bench.make({ enabled: false });
    expect(await api.refused('PATCH', `judges/${ofSpans['id']}`, { quiet_seconds: 5 })).to.have.all.keys(
      '/quiet_seconds',
    );
  });

  it('begin anew when a span is deleted that the model is being shown', async () => {
    const judge = await bench.make({ ...OF_TRACES, filters: { kinds: ['agent'] } });
    const spans = trace();
    endpoint.reset(() => ({ do: 'hang' }));
    await api.post(...spans);
    await until('it is asked', () => endpoint.asked.some((asked) => about(asked, 'Found 1')));
    endpoint.reset(() => answer(failing));
    await api.expect(204, 'DELETE', `/spans/${spans[2]?.['id']}`);
    await api.evaluated(judge, whole(spans));
    expect(endpoint.asked.map((asked) => about(asked, 'Found 1'))).to.deep.equal([false]);
    for (const call of await api.callsOf(judge)) expect(call['input_data']).to.not.contain('Found 1');
    await api.expect(204, 'DELETE', `/spans/${spans[1]?.['id']}`);
    expect(await api.evaluations(judge)).to.deep.equal([]);
  });

  it('evaluate a trace that never rests within a day, and none more than 20 times', async () => {
    const judge = await bench.make({ ...OF_TRACES, quiet_seconds: 60 });
    const spans = trace();
    await api.post(...spans);
    await api.until(judge, whole(spans), 'quiet');
    const [waiting] = await api.runs(judge);
    expect(waiting).to.include({ subject_id: spans[0]['trace_id'], state: 'queued', attempts: 0 });
    // As if it had been queued a day ago.
    await withStore(bench, (database) =>
      database
        .prepare('UPDATE judge_runs SET created_at = created_at - ?, next_attempt_at = ? WHERE id = ?')
        .run(DAY * 1_000, Date.now() * 1_000, waiting?.['id']),
    );
    await api.post(late(spans));
    // It wakes the runner, too.
    await api.patch(judge['id'], { name: 'Restless' });
    await api.evaluated(judge, whole(spans));
    await withStore(bench, (database) => {
      const columns = `project_id, judge_id, span_id, origin, evaluation_type, evaluation_result, evaluation_reason, created_at,
        subject_id, subject_upto`;
      const copy = database.prepare(
        `INSERT INTO evaluations (id, ${columns}) SELECT ?, ${columns} FROM evaluations WHERE judge_id = ? LIMIT 1`,
      );
      for (let made = 1; made < 20; made += 1) copy.run(randomUUID(), judge['id']);
    });
    const asked = endpoint.asked.length;
    await api.post(late(spans, { output_data: 'Too late' }));
    const { explanation } = await api.until(judge, whole(spans), 'evaluated_often');
    expect(explanation).to.contain('20 times');
    await sleep(500);
    expect([endpoint.asked.length, await api.runs(judge)]).to.deep.equal([asked, []]);
    await run(judge, { trace_ids: [spans[0]['trace_id']] });
    await evaluations(judge, 21);
  });
});

async function withStore(bench: JudgeBench, work: (database: Database) => unknown): Promise<void> {
  const database = openDatabase(join(bench.server.dataDir, DATABASE_FILE));
  try {
    work(database);
  } finally {
    database.close();
  }
}

describe('judges of traces, when the server starts again', function () {
  this.timeout(120_000);

  it('wait on for quiet', async () => {
    const first = await JudgeBench.boot();
    const judge = await first.api.create({ ...OF_TRACES, quiet_seconds: 3 });
    const span = await first.api.postOne();
    await first.api.until(judge, { id: span['trace_id'] }, ['quiet', 'evaluated']);
    await first.server.stop();
    await first.endpoint.stop();
    const again = await JudgeBench.boot({}, { dataDir: first.server.dataDir });
    try {
      await again.api.evaluated(judge, { id: span['trace_id'] });
      expect(await again.api.evaluations(judge)).to.have.length(1);
    } finally {
      await again.dispose();
    }
  });
});
