import { createHash, randomUUID } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { seedOf } from '../harness/seed.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { at, dotted, formData, langsmith, type FormPart, type SentRun } from './langsmith-client.js';

const SEED = seedOf('RUNS_SEED');
const ORDERS = 8;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe(`calls of LangSmith, RUNS_SEED=${SEED}`, function () {
  this.timeout(120_000);
  let server: TestServer;
  let other: MadeProject;
  let client: ReturnType<typeof langsmith>;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    other = makeProject(server.dataDir);
    client = langsmith(server);
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };
  const spansOf = (trace: string) => get(`/spans?trace_id=${trace}&sort_by=started_at&sort_order=asc`);

  /** A trace as clients send it: each run once when it begins and once when it is over. */
  function runsOf(trace: string) {
    const [call, tool] = [randomUUID(), randomUUID()];
    const run = (id: string, name: string, type: string, order: string) => ({
      ...{ id, trace_id: trace, name, run_type: type, dotted_order: order, session_name: 'shop' },
      ...(id !== trace && { parent_run_id: trace }),
    });
    const root = run(trace, 'checkout', 'chain', dotted([0, trace]));
    const metadata = { thread_id: 'thread-1', plan: 'pro', usage_metadata: { input_tokens: 7, output_tokens: 7 } };
    const extra = { metadata, runtime: { sdk: 'test' } };
    const llm = {
      ...run(call, 'answer', 'llm', dotted([0, trace], [10, call])),
      extra: {
        metadata: { thread_id: 'thread-1', ls_provider: 'openai', ls_model_name: 'gpt-4o' },
        invocation_params: { temperature: 0 },
      },
    };
    const searched = run(tool, 'search', 'tool', dotted([0, trace], [20, tool]));
    const messages = [{ role: 'user', content: 'Where?' }];
    const begun: SentRun[] = [
      { ...root, start_time: at(0), inputs: { q: 'Where?' }, extra, tags: ['beta'] },
      { ...llm, start_time: at(10), inputs: { messages } },
      { ...searched, start_time: Date.parse(at(20)), inputs: { q: 'shops' } },
    ];
    const over: SentRun[] = [
      { ...root, end_time: Date.parse(at(100)), outputs: { answer: 'Here.' }, extra },
      {
        ...llm,
        end_time: at(60),
        inputs: {},
        outputs: {
          choices: [{ message: { role: 'assistant', content: 'Here.' } }],
          usage_metadata: { input_tokens: 1000, output_tokens: 500, input_token_details: { cache_read: 100 } },
        },
        events: [
          { name: 'start', time: at(10) },
          { name: 'new_token', time: at(15) },
        ],
      },
      {
        ...searched,
        end_time: at(50),
        error: 'ValueError(\'no shop\')Traceback (most recent call last):\n  File "x.py", line 1',
      },
    ];
    return { begun, over, call, tool };
  }

  it('say what the server can do, to anyone', async () => {
    const answer = await server.request('GET', '/langsmith/info', { key: null });
    document.check('GET', '/langsmith/info', answer);
    expect(answer.json.batch_ingest_config.use_multipart_endpoint).to.equal(false);
    expect(answer.json.instance_flags.dataset_examples_multipart_enabled).to.equal(true);
  });

  it('take a key as x-api-key, at every call', async () => {
    expect((await server.request('GET', '/whoami', { key: null, headers: client.headers })).status).to.equal(200);
    for (const key of ['', 'sk_sh_wrong', `Bearer ${server.key}`]) {
      const headers = { 'x-api-key': key };
      expect((await server.request('GET', '/langsmith/sessions', { key: null, headers })).status).to.equal(401);
    }
  });

  it('make spans of runs that are sent in halves', async () => {
    const trace = randomUUID();
    const { begun, over, call } = runsOf(trace);
    const answer = await client.send(begun);
    document.check('POST', '/langsmith/runs/batch', answer);
    expect(answer.status, answer.text).to.equal(202);
    expect((await client.send([], over)).status).to.equal(202);
    const spans = await spansOf(trace);
    expect(spans.map(({ name, kind, status }: any) => [name, kind, status])).to.deep.equal([
      ['checkout', 'chain', 'ok'],
      ['answer', 'llm', 'ok'],
      ['search', 'tool', 'error'],
    ]);
    const [root, llm, tool] = spans;
    expect(root).to.include({ parent_span_id: null, session_name: 'thread-1', input_tokens: null, cost: null });
    expect(root).to.include({ input_data: '{"q":"Where?"}', output_data: '{"answer":"Here."}', duration_ms: 100 });
    expect(root.tags).to.include({ project: 'shop', beta: 'true', plan: 'pro' });
    expect(llm).to.include({
      parent_span_id: trace,
      id: call,
      model: 'gpt-4o',
      provider: 'openai',
      input_tokens: 1000,
    });
    expect(llm).to.include({ output_tokens: 500, cache_read_tokens: 100 });
    expect(llm.cost).to.equal((900 * 2.5 + 100 * 1.25 + 500 * 10) / 1e6);
    expect(llm.attributes['langsmith.first_token_time']).to.include('12:00:00.015');
    expect(llm.input_data).to.equal('{"messages":[{"role":"user","content":"Where?"}]}');
    expect(tool).to.include({ error_code: 'ValueError', error_message: "ValueError('no shop')" });
    expect(tool.error_stack).to.match(/^Traceback/);
    const [stored] = await get(`/traces?id=${trace}&project=shop`);
    expect(stored).to.include({ name: 'checkout', span_count: 3, error_count: 1, cost: llm.cost });
  });

  it('make the same spans in whatever order, portions and repetitions runs come', async () => {
    const dice = new Random(SEED);
    const shown = async (trace: string, ids: readonly string[]) => {
      let text = JSON.stringify([await spansOf(trace), await get(`/traces?id=${trace}`)]);
      for (const [index, id] of [trace, ...ids].entries()) text = text.replaceAll(id, `id-${index}`);
      return JSON.parse(
        text
          .replace(/"created_at":"[^"]*"/g, '""')
          .replace(/,"since":\d+/g, '')
          .replace(/""/g, '"x":1'),
      );
    };
    const results = await Promise.all(
      Array.from({ length: ORDERS }, async (_none, order) => {
        const trace = randomUUID();
        const { begun, over, call, tool } = runsOf(trace);
        const events = [...begun.map((run) => ({ run, patch: false })), ...over.map((run) => ({ run, patch: true }))];
        const again = order === 0 ? [] : events.filter(() => dice.whole(0, 2) === 0);
        const left = [...events, ...again];
        const batches: (typeof events)[] = [];
        while (left.length > 0) {
          const [event] = left.splice(order === 0 ? 0 : dice.whole(0, left.length - 1), 1);
          if (batches.length === 0 || dice.whole(0, 1) === 0) batches.push([]);
          batches.at(-1)?.push(event!);
        }
        for (const batch of batches) {
          const of = (patch: boolean) => batch.filter((event) => event.patch === patch).map(({ run }) => run);
          expect((await client.send(of(false), of(true))).status).to.equal(202);
        }
        return shown(trace, [call, tool]);
      }),
    );
    for (const result of results) expect(result).to.deep.equal(results[0]);
  });

  it('take single runs, whose trace later calls do not say', async () => {
    const [root, child] = [randomUUID(), randomUUID()];
    const posted = await client.call('POST', '/runs', { id: root, name: 'old', run_type: 'chain', start_time: at(0) });
    document.check('POST', '/langsmith/runs', posted);
    await client.call('POST', '/runs', { id: child, parent_run_id: root, name: 'part', start_time: at(1) });
    const patched = await client.call('PATCH', `/runs/${child}`, { outputs: { n: 1 }, end_time: at(5) });
    document.check('PATCH', '/langsmith/runs/{run_id}', patched);
    expect(patched.status, patched.text).to.equal(202);
    // What has no time of its own counts as said last.
    for (const n of [9, 2]) await client.call('PATCH', `/runs/${child}`, { outputs: { n } });
    const spans = await spansOf(root);
    expect(spans.map(({ id, parent_span_id, output_data }: any) => [id, parent_span_id, output_data])).to.deep.equal([
      [root, null, null],
      [child, root, '{"n":2}'],
    ]);
  });

  it('refuse runs one by one, and say why', async () => {
    const trace = randomUUID();
    const run = (more: object) => ({ id: randomUUID(), trace_id: trace, name: 'run', start_time: at(0), ...more });
    const self = randomUUID();
    const bad: readonly (readonly [unknown, RegExp])[] = [
      [null, /object/],
      ['run', /object/],
      [{}, /id/],
      [run({ id: 7 }), /\/id/],
      [run({ start_time: 'yesterday' }), /times/],
      [run({ id: self, parent_run_id: self }), /itself/],
      [run({ name: 'n'.repeat(5_000) }), /\/name/],
      [run({ extra: { metadata: { session_id: 's'.repeat(5_000) } } }), /session id/],
      [run({ tags: 'x' }), /\/tags/],
    ];
    const { status, json, text } = await client.send([run({}), ...bad.map(([sent]) => sent)]);
    expect(status, text).to.equal(422);
    expect(json.detail).to.match(/^9 of 10 runs are refused, the others are stored/);
    for (const [index, [, why]] of bad.entries()) {
      expect(json.errors[index].pointer).to.match(new RegExp(`^/post/${index + 1}`));
      expect(`${json.errors[index].pointer} ${json.errors[index].detail}`).to.match(why);
    }
    expect(await spansOf(trace)).to.have.length(1);
  });

  it('refuse what is no batch, or too much of one', async () => {
    for (const body of [[], { post: 'x' }, { post: Array(10_001).fill(0) }])
      expect((await client.call('POST', '/runs/batch', body)).status).to.equal(422);
    const deep = `{"post":[{"id":"a","inputs":${'['.repeat(300)}${']'.repeat(300)}}]}`;
    expect((await client.call('POST', '/runs/batch', deep)).status).to.equal(400);
  });

  it('take parts of forms, compressed or not, with images and other files', async () => {
    for (const [encoding, compress] of [
      [null, (bytes: Buffer) => bytes],
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      const trace = randomUUID();
      const { bytes, type } = formData([
        [
          `post.${trace}`,
          { id: trace, trace_id: trace, dotted_order: dotted([0, trace]), name: 'form', run_type: 'chain' },
        ],
        [`post.${trace}.inputs`, { q: 'Where?' }],
        [`patch.${trace}`, { id: trace, end_time: at(9), dotted_order: dotted([0, trace]) }],
        [`patch.${trace}.outputs`, { a: 'Here.' }],
        [`attachment.${trace}.shot`, PNG, 'image/png'],
        [`attachment.${trace}.notes`, Buffer.from('any text'), 'text/plain; length=8'],
        [`feedback.${randomUUID()}`, { id: randomUUID(), run_id: trace, key: 'useful', score: 1 }],
      ]);
      const sent = await server.request('POST', '/langsmith/runs/multipart', {
        key: null,
        headers: {
          ...client.headers,
          'content-type': type,
          ...(encoding !== null && { 'content-encoding': encoding }),
        },
        body: compress(bytes),
      });
      expect(sent.status, sent.text).to.equal(202);
      const [span] = await spansOf(trace);
      expect(span).to.include({
        name: 'form',
        input_data: '{"q":"Where?"}',
        output_data: '{"a":"Here."}',
        duration_ms: 9,
      });
      expect(span.attributes['langsmith.attachments']).to.deep.equal([
        { name: 'notes', media_type: 'text/plain', bytes: 8 },
      ]);
      expect(await get(`/spans/${trace}/attachments`)).to.include({ count: 1 });
    }
  });

  it('refuse hostile forms', async () => {
    const id = randomUUID();
    const sound = formData([[`post.${id}`, { id }]]);
    const send = (bytes: Buffer | string, type = sound.type) =>
      server.request('POST', '/langsmith/runs/multipart', {
        key: null,
        headers: { ...client.headers, 'content-type': type },
        body: bytes,
      });
    const cut = sound.bytes.subarray(0, -20);
    for (const bytes of [
      '',
      'x',
      '--',
      '--b',
      '--b\r\n',
      '--b\r\n\r\n',
      `--b\r\n${'x'.repeat(10_000)}`,
      cut,
      '\r\n'.repeat(5_000),
    ])
      expect((await send(bytes)).status, String(bytes).slice(0, 50)).to.equal(400);
    const parts = async (...all: Parameters<typeof formData>[0][number][]) => {
      const { bytes, type } = formData(all);
      return (await send(bytes, type)).status;
    };
    expect(await parts([`delete.${id}`, {}])).to.equal(422);
    expect(await parts([`post.${id}`, 'text'])).to.equal(422);
    expect(await parts([`post.${id}`, Buffer.from('{')])).to.equal(400);
    expect(await parts([`post.${id}`, Buffer.from([0x22, 0xff, 0x22])])).to.equal(400);
    expect(await parts([`post.${id}.inputs`, Buffer.from('['.repeat(1000))])).to.equal(400);
    const files = Array.from({ length: 1_001 }, (_, index): FormPart => [
      `attachment.${id}.${index}`,
      Buffer.from('x'),
      'text/plain',
    ]);
    expect(await parts(...files)).to.equal(413);
    expect(await parts([`feedback.${id}`, { key: 'x' }])).to.equal(422);
    expect(await parts([`attachment.${id}.x`, PNG, 'image/png'])).to.equal(202);
    expect((await send(sound.bytes, 'application/json')).status).to.equal(415);
  });

  it("never touch another project's runs, examples and feedback", async () => {
    const trace = randomUUID();
    const { begun, over } = runsOf(trace);
    await client.send(begun);
    const theirs = langsmith({ ...server, ...other });
    expect((await theirs.send([], over)).status).to.equal(202);
    expect((await spansOf(trace)).map(({ output_data }: any) => output_data)).to.deep.equal([null, null, null]);
    const feedback = { id: randomUUID(), run_id: trace, key: 'useful', score: 1 };
    await client.call('POST', '/feedback', feedback);
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { score: 0 }]] as const)
      expect((await theirs.call(method, `/feedback/${feedback.id}`, body)).status).to.equal(404);
    expect((await client.call('GET', `/feedback/${feedback.id}`)).json.score).to.equal(1);
    const dataset = (await client.call('POST', '/datasets', { name: 'only ours' })).json;
    expect((await theirs.call('GET', `/datasets/${dataset.id}`)).status).to.equal(404);
    expect((await theirs.call('GET', '/datasets?name=only%20ours')).json).to.deep.equal([]);
    expect((await theirs.call('POST', '/sessions', { name: 'x', reference_dataset_id: dataset.id })).status).to.equal(
      404,
    );
  });

  it('store, list, change and delete feedback by the ids of the client', async () => {
    const [run, first] = [randomUUID(), randomUUID()];
    const send = async (body: object) => {
      const answer = await client.call('POST', '/feedback', { run_id: run, ...body });
      expect(answer.status, answer.text).to.equal(200);
      document.check('POST', '/langsmith/feedback', answer);
      return answer.json;
    };
    await send({
      id: first,
      key: 'helpful',
      score: true,
      comment: 'yes',
      correction: { a: 1 },
      session_id: randomUUID(),
    });
    await send({
      id: randomUUID(),
      key: 'tone',
      value: 'calm',
      feedback_source: { type: 'model', metadata: { by: 'x' } },
    });
    const failed = await send({ id: randomUUID(), key: 'helpful', comment: 'KeyError()', extra: { error: true } });
    expect(failed).to.include({ key: 'helpful error', value: 'KeyError()', score: null });
    const listed = await client.call('GET', `/feedback?run=${run}&limit=10&offset=0&key=helpful&key=tone`);
    document.check('GET', '/langsmith/feedback', listed);
    expect(listed.json.map(({ key, score, value }: any) => [key, score, value])).to.have.deep.members([
      ['helpful', true, null],
      ['tone', null, 'calm'],
    ]);
    expect((await client.call('GET', `/feedback?run=${run}&source=model`)).json).to.have.length(1);
    const changed = await client.call('PATCH', `/feedback/${first}`, { score: 0, comment: 'no' });
    document.check('PATCH', '/langsmith/feedback/{feedback_id}', changed);
    expect(changed.json).to.deep.include({ id: first, score: false, comment: 'no', correction: { a: 1 } });
    expect((await client.call('DELETE', `/feedback/${first}`)).status).to.equal(204);
    expect((await client.call('DELETE', `/feedback/${first}`)).status).to.equal(404);
    for (const body of [
      { key: 'x', score: 1 },
      { run_id: run, key: 'x' },
      { session_id: randomUUID(), key: 'x', score: 1 },
    ])
      expect((await client.call('POST', '/feedback', body)).status).to.equal(422);
  });

  it('keep datasets, and run an experiment on them', async () => {
    const dataset = (await client.call('POST', '/datasets', { name: 'qa', description: 'Questions', data_type: 'kv' }))
      .json;
    const [one, two] = [randomUUID(), randomUUID()];
    const path = `/v1/platform/datasets/${dataset.id}/examples`;
    const made = await client.form('POST', path, [
      [one, { created_at: at(0), metadata: { level: 1 }, split: 'train' }],
      [`${one}.inputs`, { q: 'a' }],
      [`${one}.outputs`, { a: 'A' }],
      [two, { created_at: at(0) }],
      [`${two}.inputs`, { q: 'b' }],
    ]);
    expect(made.status, made.text).to.equal(201);
    expect(made.json).to.deep.include({ count: 2, example_ids: [one, two] });
    expect((await client.call('GET', `/datasets/${dataset.id}?limit=1`)).json.example_count).to.equal(2);
    // Neither of two at once undoes what the other changes.
    const changed = await Promise.all([
      client.form('PATCH', path, [
        [two, {}],
        [`${two}.outputs`, { a: 'B' }],
      ]),
      client.form('PATCH', path, [[two, { metadata: { level: 2 } }]]),
    ]);
    for (const { status, text } of changed) expect(status, text).to.equal(200);
    const listed = await client.call('GET', `/examples?dataset=${dataset.id}&limit=100&offset=0&inline_s3_urls=True`);
    document.check('GET', '/langsmith/examples', listed);
    expect(listed.json.map(({ id, inputs, outputs }: any) => [id, inputs, outputs])).to.deep.equal([
      [one, { q: 'a' }, { a: 'A' }],
      [two, { q: 'b' }, { a: 'B' }],
    ]);
    const ids = async (query: string) =>
      (await client.call('GET', `/examples?dataset=${dataset.id}&${query}`)).json.map(({ id }: any) => id);
    expect(await ids('splits=train')).to.deep.equal([one]);
    expect(await ids(`metadata=${encodeURIComponent('{"level":1}')}`)).to.deep.equal([one]);
    expect(await ids(`id=${two}`)).to.deep.equal([two]);
    expect(await ids('as_of=2020-01-01T00:00:00')).to.deep.equal([]);
    const readBack = (await client.call('GET', `/examples/${two}`)).json;
    expect(readBack).to.deep.include({ dataset_id: dataset.id, outputs: { a: 'B' } });
    expect(readBack.metadata.level).to.equal(2);
    expect((await client.form('POST', path, [[one, { use_source_run_io: true }]])).status).to.equal(422);

    const name = `exp-${randomUUID()}`;
    const created = await client.call('POST', '/sessions', {
      name,
      reference_dataset_id: dataset.id,
      extra: { metadata: {} },
    });
    expect(created.status, created.text).to.equal(200);
    document.check('POST', '/langsmith/sessions', created);
    const run = randomUUID();
    const sent = {
      id: run,
      trace_id: run,
      dotted_order: dotted([0, run]),
      name: 'target',
      run_type: 'chain',
      session_name: name,
    };
    await client.send([
      { ...sent, start_time: at(0), end_time: at(9), outputs: { a: 'A' }, reference_example_id: one },
    ]);
    // Another run of an example is another try at it; one that is sent again is the same.
    const again = randomUUID();
    const second = { ...sent, id: again, trace_id: again, dotted_order: dotted([20, again]), outputs: { a: 'AA' } };
    for (let times = 0; times < 2; times += 1)
      await client.send([{ ...second, start_time: at(20), end_time: at(29), reference_example_id: one }]);
    await client.call('POST', '/feedback', { id: randomUUID(), run_id: run, key: 'right', score: 1 });
    await client.call('POST', '/feedback', {
      id: randomUUID(),
      session_id: created.json.id,
      key: 'overall',
      score: 0.5,
    });
    const patched = await client.call('PATCH', `/sessions/${created.json.id}`, {
      ...{ name: null, description: null, end_time: null },
      extra: { metadata: { dataset_version: at(0), num_repetitions: 2 } },
    });
    expect(patched.json.end_time).to.be.a('string');
    const experiment = await get(`/projects/${server.projectId}/experiments/${created.json.id}`);
    expect(experiment).to.include({ status: 'finished', name, repetitions: 2 });
    expect(experiment.figures).to.include({ results: 2, rows: 1 });
    const { results } = await get(`/projects/${server.projectId}/experiments/${created.json.id}/results`);
    expect(results[0]).to.deep.include({ row_id: one, output_data: '{"a":"A"}', scores: { right: 1 } });
    expect(results[1]).to.include({ row_id: one, output_data: '{"a":"AA"}', repetition: 2 });
    const read = await client.call('POST', '/runs/query', {
      session: [created.json.id],
      is_root: true,
      select: ['id'],
    });
    document.check('POST', '/langsmith/runs/query', read);
    expect(read.json.runs).to.have.length(2);
    expect(read.json.runs[1]).to.deep.include({
      id: run,
      reference_example_id: one,
      outputs: { a: 'A' },
      status: 'success',
    });
    expect(read.json.runs[1].feedback_stats.right.avg).to.equal(1);

    // A name of which runs came before there was such an experiment, and behind more names than anybody has.
    const late = `late-${randomUUID()}`;
    const tried = (session_name: string) => {
      const id = randomUUID();
      const times = { start_time: at(0), end_time: at(9) };
      const place = { id, trace_id: id, dotted_order: dotted([0, id]) };
      return { ...sent, ...place, ...times, session_name, outputs: { a: 'A' }, reference_example_id: one };
    };
    expect((await client.send([tried(late)])).status).to.be.below(300);
    const body = { name: late, dataset: 'qa' };
    const made2 = await server.request('POST', `/projects/${server.projectId}/experiments`, { body });
    expect(made2.status, made2.text).to.equal(201);
    const others = Array.from({ length: 250 }, (_none, index) => tried(`other-${index}`));
    expect((await client.send([...others, tried(late)])).status).to.be.below(300);
    const counted = await get(`/projects/${server.projectId}/experiments/${made2.json.id}`);
    expect(counted.figures).to.include({ results: 1 });
    const [project] = (await client.call('GET', `/sessions?limit=1&name=${name}&include_stats=False`)).json;
    expect(project).to.include({ id: created.json.id, reference_dataset_id: dataset.id, tenant_id: server.projectId });
    expect((await client.call('DELETE', `/examples/${two}`)).status).to.equal(204);
    expect((await client.call('DELETE', `/sessions/${created.json.id}`)).status).to.equal(204);
    expect((await client.call('DELETE', `/datasets/${dataset.id}`)).status).to.equal(204);
  });

  it('read runs back, by pages, as they were sent', async () => {
    const trace = randomUUID();
    const { begun, over, call } = runsOf(trace);
    const sent = [...begun].map((run) => ({ ...run, session_name: 'read back' }));
    await client.send(sent);
    await client.send(
      [],
      over.map((run) => ({ ...run, session_name: 'read back' })),
    );
    const read = await client.call('GET', `/runs/${call}`);
    document.check('GET', '/langsmith/runs/{run_id}', read);
    expect(read.json).to.deep.include({
      ...{
        id: call,
        trace_id: trace,
        parent_run_id: trace,
        run_type: 'llm',
        inputs: begun[1]!['inputs'],
        total_tokens: 1500,
      },
      dotted_order: begun[1]!['dotted_order'],
    });
    expect(read.json.extra.invocation_params).to.deep.equal({ temperature: 0 });
    const [project] = (await client.call('GET', '/sessions?name=read%20back&limit=1')).json;
    expect((await client.call('GET', `/sessions/${project.id}`)).json.name).to.equal('read back');
    const first = await client.call('POST', '/runs/query', { session: [project.id], limit: 2, order: 'asc' });
    expect(first.json.runs.map(({ name }: any) => name)).to.deep.equal(['checkout', 'answer']);
    const { next } = first.json.cursors;
    const second = await client.call('POST', '/runs/query', {
      session: [project.id],
      limit: 2,
      order: 'asc',
      cursor: next,
    });
    expect(second.json.runs.map(({ name }: any) => name)).to.deep.equal(['search']);
    const parts = await client.call('POST', '/runs/query', { trace, is_root: false });
    expect(parts.json.runs).to.have.length(2);
    const byIds = await client.call('POST', '/runs/query', { id: [trace, randomUUID()] });
    expect(byIds.json.runs).to.have.length(1);
    expect((await client.call('GET', `/runs/${randomUUID()}`)).status).to.equal(404);
    expect((await client.call('GET', '/sessions?name=nothing')).json).to.deep.equal([]);
    expect((await client.call('GET', '/sessions?limit=1')).json).to.have.length(1);
  });

  it('find runs by filters, and refuse what cannot be applied, by its name', async () => {
    const trace = randomUUID();
    const { begun, over, call, tool } = runsOf(trace);
    await client.send(begun);
    await client.send([], over);
    await client.call('POST', '/feedback', { id: randomUUID(), run_id: call, key: 'quality', score: 0.5 });
    const found = async (filter: string) => {
      const asked = await client.call('POST', '/runs/query', { trace, filter, order: 'asc' });
      expect(asked.status, `${filter}: ${asked.text}`).to.equal(200);
      return asked.json.runs.map(({ id }: { id: string }) => (id === trace ? 'root' : id === call ? 'call' : 'tool'));
    };
    const cases: Readonly<Record<string, readonly string[]>> = {
      'eq(run_type, "llm")': ['call'],
      'in(run_type, ["LLM", "tool"])': ['call', 'tool'],
      "or(eq(name, 'search'), eq(name, 'checkout'))": ['root', 'tool'],
      'and(eq(run_type, "llm"), gt(latency, 0.04), eq(error, false))': ['call'],
      'gt(latency, "50ms")': ['root'],
      'gte(latency, "0.05s")': ['root', 'call'],
      'lt(latency, 0.05)': ['tool'],
      'neq(error, null)': ['tool'],
      'eq(status, "success")': ['root', 'call'],
      'has(tags, "beta")': ['root'],
      'and(eq(metadata_key, "plan"), eq(metadata_value, "pro"))': ['root'],
      'has(metadata, "{\\"plan\\": \\"pro\\"}")': ['root'],
      'and(eq(metadata_key, "thread_id"), eq(metadata_value, "thread-1"))': ['root', 'call'],
      'eq(is_root, true)': ['root'],
      'eq(is_root, false)': ['call', 'tool'],
      [`eq(parent_run_id, "${trace}")`]: ['call', 'tool'],
      [`in(id, ["${tool}", "${call}"])`]: ['call', 'tool'],
      'search("no shop")': ['tool'],
      'gt(prompt_tokens, 999)': ['call'],
      'gt(prompt_tokens, 1000)': [],
      'lte(completion_tokens, 500)': ['call'],
      'gt(total_cost, 0)': ['call'],
      'and(eq(feedback_key, "quality"), gte(feedback_score, 0.5))': ['call'],
      'and(eq(feedback_key, "quality"), gt(feedback_score, 0.5))': [],
      [`and(gt(start_time, "${at(0)}"), and(lt(start_time, "${at(20)}")))`]: ['call'],
    };
    for (const [filter, ids] of Object.entries(cases)) expect(await found(filter), filter).to.deep.equal(ids);
    const refused: readonly (readonly [string, RegExp])[] = [
      ['not(eq(name, "x"))', /calls not/],
      ['neq(run_type, "llm")', /run_type by neq/],
      ['gt(total_tokens, 1)', /total_tokens by gt/],
      ['or(eq(name, "a"), eq(run_type, "b"))', /`or`/],
      ['eq(name, "x") eq(name, "y")', /goes on/],
      ['eq(name, "x"', /end/],
      ['eq(name, "x)', /not understood/],
      ['eq(metadata_key, "k")', /metadata_value/],
      ['gt(feedback_score, 1)', /feedback_key/],
      ['gt(latency, "soon")', /latency with "soon"/],
      ['eq(id, 7)', /no id/],
      ['"x"', /call/],
      ['', /^$/],
      [`${'and('.repeat(50)}eq(name,"x")${')'.repeat(50)}`, /nested/],
      [`in(name, [${'"x",'.repeat(1_000)}"x"])`, /parts/],
    ];
    for (const [filter, why] of refused) {
      const answer = await client.call('POST', '/runs/query', { filter });
      expect([filter, answer.status]).to.deep.equal([filter, filter === '' ? 200 : 400]);
      if (filter !== '') expect(answer.json.detail).to.match(why);
    }
  });

  it('find runs by what the root of their trace, or any run of it, is', async () => {
    const [shop, bare, name] = [randomUUID(), randomUUID(), randomUUID()];
    const { begun, over, call, tool } = runsOf(shop);
    const named = (runs: readonly SentRun[]) => runs.map((run) => (run.id === shop ? { ...run, name } : run));
    // A trace of one run, with the same name, and one whose part has what the root of the other has.
    const alone = { id: bare, trace_id: bare, name, run_type: 'chain', dotted_order: dotted([30, bare]) };
    await client.send([
      ...named(begun),
      { ...alone, start_time: at(30), end_time: at(31), inputs: { q: `lone ${name}` } },
    ]);
    await client.send([], named(over));
    await client.call('POST', '/feedback', { id: randomUUID(), run_id: call, key: 'judged', score: 1 });
    const found = async (asked: object) => {
      const { status, text, json } = await client.call('POST', '/runs/query', { order: 'asc', ...asked });
      expect(status, text).to.equal(200);
      const names = new Map<string, string>([[shop, 'root'], [call, 'call'], [tool, 'tool'], [bare, 'bare']]); // prettier-ignore
      return json.runs.map(({ id }: { id: string }) => names.get(id));
    };
    const ofRoot = `eq(name, "${name}")`;
    expect(await found({ trace_filter: ofRoot })).to.deep.equal(['root', 'call', 'tool', 'bare']);
    expect(await found({ tree_filter: ofRoot, filter: 'eq(is_root, false)' })).to.deep.equal(['call', 'tool']);
    expect(await found({ trace_filter: ofRoot, tree_filter: 'eq(run_type, "tool")', is_root: true })).to.deep.equal([
      'root',
    ]);
    expect(await found({ trace_filter: `and(${ofRoot}, has(tags, "beta"))`, run_type: 'llm' })).to.deep.equal(['call']);
    expect(await found({ trace_filter: `and(${ofRoot}, eq(run_type, "llm"))` })).to.deep.equal([]);
    const judged = 'and(eq(feedback_key, "judged"), eq(feedback_score, 1))';
    expect(await found({ trace_filter: ofRoot, tree_filter: judged, filter: 'eq(run_type, "tool")' })).to.deep.equal([
      'tool',
    ]);
    expect(await found({ trace_filter: `and(${ofRoot}, search("lone ${name}"))` })).to.deep.equal(['bare']);
    expect(await found({ trace_filter: `and(${ofRoot}, eq(session_id, "thread-1"))`, limit: 1 })).to.deep.equal([
      'root',
    ]);
    // Of runs and traces that are named, only their traces are looked at.
    expect(await found({ id: [tool, bare], tree_filter: 'eq(run_type, "llm")' })).to.deep.equal(['tool']);
    expect(await found({ trace: shop, tree_filter: 'eq(run_type, "llm")', run_type: 'tool' })).to.deep.equal(['tool']);
    expect(await found({ filter: `in(trace_id, ["${shop}", "${bare}"])`, trace_filter: ofRoot })).to.have.length(4);
    // What another project has finds nothing, and what changes counts at once.
    const { json } = await langsmith({ ...server, key: other.key }).call('POST', '/runs/query', {
      tree_filter: ofRoot,
    });
    expect(json.runs).to.deep.equal([]);
    await client.send([], [{ ...alone, run_type: 'tool', end_time: at(32) }]);
    expect(await found({ trace_filter: `and(${ofRoot}, eq(run_type, "tool"))` })).to.deep.equal(['bare']);
    const refused = await client.call('POST', '/runs/query', { tree_filter: 'gt(total_tokens, 1)' });
    expect([refused.status, refused.json.errors?.[0]?.pointer]).to.deep.equal([400, '/tree_filter']);
  });

  it('keep files of examples with the rows that name them, and hand them out by URLs', async () => {
    const { id: dataset } = (await client.call('POST', '/datasets', { name: 'with files' })).json;
    const path = `/v1/platform/datasets/${dataset}/examples`;
    const [one, two] = [randomUUID(), randomUUID()];
    const text = Buffer.from(`a,b\n${randomUUID()},2\n`);
    const made = await client.form('POST', path, [
      [one, { metadata: { n: 1 } }],
      [`${one}.inputs`, { q: 'a' }],
      [`${one}.attachment.shot.png`, PNG, 'image/png; length=70'],
      [`${one}.attachment.table`, text, 'text/csv; length=9'],
      [two, {}],
      [`${two}.inputs`, { q: 'b' }],
    ]);
    expect(made.status, made.text).to.equal(201);
    const urls = async (id: string) => {
      const { status, json, text: said } = await client.call('GET', `/examples/${id}`);
      expect(status, said).to.equal(200);
      return json.attachment_urls;
    };
    const found = await urls(one);
    expect(Object.keys(found)).to.deep.equal(['attachment.shot.png', 'attachment.table']);
    expect(found['attachment.table'].mime_type).to.equal('text/csv');
    const answer = await fetch(found['attachment.table'].presigned_url);
    expect(answer.headers.get('content-disposition')).to.match(/^attachment/);
    expect(Buffer.from(await answer.arrayBuffer()).equals(text)).to.equal(true);
    expect(await urls(two)).to.equal(null);
    const listed = await client.call('GET', `/examples?dataset=${dataset}&select=attachment_urls`);
    document.check('GET', '/langsmith/examples', listed);
    expect(listed.json.map(({ attachment_urls }: any) => attachment_urls === null)).to.deep.equal([false, true]);
    // An update keeps what is retained or renamed; without operations, all stays.
    await client.form('PATCH', path, [
      [one, {}],
      [`${one}.outputs`, { a: 'A' }],
    ]);
    expect(Object.keys(await urls(one))).to.have.length(2);
    await client.form('PATCH', path, [
      [one, {}],
      [`${one}.attachments_operations`, { rename: { table: 'figures' }, retain: [] }],
      [`${one}.attachment.note`, Buffer.from('x'), 'text/plain'],
    ]);
    expect(Object.keys(await urls(one)).sort()).to.deep.equal(['attachment.figures', 'attachment.note']);
    const kinds: readonly (readonly [string, Buffer, string])[] = [
      ['page', Buffer.from('<p>'), 'text/html'],
      ['shot', Buffer.from('no image'), 'image/png'],
      ['x'.repeat(201), PNG, 'image/png'],
    ];
    for (const [name, bytes, type] of kinds)
      expect((await client.form('POST', path, [[`${randomUUID()}.attachment.${name}`, bytes, type]])).status).to.equal(
        422,
      );
    // A row of another dataset that names a file gets none: it was not sent for that one.
    const { name: second, id: secondId } = (await client.call('POST', '/datasets', { name: 'without files' })).json;
    const column = {
      shot: { sha256: createHash('sha256').update(text).digest('hex'), media_type: 'text/csv', bytes: 1 },
    };
    const rows = [{ row_id: randomUUID(), q: 'a', attachments: column }];
    const uploaded = await server.request('POST', `/v1/datasets/${encodeURIComponent(second)}/versions`, {
      body: { rows },
    });
    expect(uploaded.status, uploaded.text).to.equal(200);
    const theirs = await client.call('GET', `/examples?dataset=${secondId}&select=attachment_urls`);
    expect(theirs.json.map(({ attachment_urls }: any) => attachment_urls)).to.deep.equal([null]);
    // A download names the files by their hashes, with which whoever may read the dataset gets them.
    const rowsOf = await server.request('GET', `/v1/datasets/${dataset}/download?format=json`);
    const { figures } = rowsOf.json.find(({ row_id }: any) => row_id === one).attachments;
    expect(figures).to.deep.equal({ ...column.shot, bytes: text.length });
    const ofDataset = (set: string) => `/v1/datasets/${set}/files/${figures.sha256}`;
    const file = await server.request('GET', ofDataset(dataset));
    document.check('GET', ofDataset(dataset), file);
    expect([file.status, file.text, file.headers.get('content-type')]).to.deep.equal([
      ...[200, text.toString(), 'text/csv; charset=utf-8'],
    ]);
    const headers = { 'if-none-match': String(file.headers.get('etag')) };
    expect((await server.request('GET', ofDataset(dataset), { headers })).status).to.equal(304);
    expect((await server.request('GET', ofDataset(secondId))).status).to.equal(404);
    expect((await server.request('GET', ofDataset(dataset), { key: other.key })).status).to.equal(404);
    // Files go with the dataset.
    const url = (await urls(one))['attachment.figures'].presigned_url;
    expect((await client.call('DELETE', `/datasets/${dataset}`)).status).to.be.lessThan(300);
    for (let status = 200; status !== 404;) ({ status } = await fetch(url));
  });

  it('number the runs of many experiments in one request, each by itself', async () => {
    const dataset = (await client.call('POST', '/datasets', { name: 'numbered' })).json;
    const example = randomUUID();
    await client.form('POST', `/v1/platform/datasets/${dataset.id}/examples`, [
      [example, {}],
      [`${example}.inputs`, { q: 'a' }],
    ]);
    const sessions: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const body = { name: `numbered ${n}`, reference_dataset_id: dataset.id };
      sessions.push((await client.call('POST', '/sessions', body)).json.id);
    }
    const batch = [1, 2].flatMap((time) =>
      sessions.map((_id, n) => {
        const id = randomUUID();
        const run = { id, trace_id: id, name: 'try', run_type: 'chain', dotted_order: dotted([time, id]) };
        return {
          ...run,
          session_name: `numbered ${n}`,
          ...{ start_time: at(time), end_time: at(9) },
          reference_example_id: example,
        };
      }),
    );
    expect((await client.send(batch)).status).to.equal(202);
    // What is sent again keeps its number.
    expect((await client.send(batch)).status).to.equal(202);
    for (const id of sessions) {
      const { results } = await get(`/projects/${server.projectId}/experiments/${id}/results`);
      expect(results.map(({ repetition }: any) => repetition)).to.have.members([1, 2]);
    }
  });

  it('count, of two patches of a run in one batch, the later', async () => {
    for (const outputs of [
      [{ n: 9 }, { n: 2 }],
      [{ n: 2 }, { n: 9 }],
    ]) {
      const run = randomUUID();
      const shared = { id: run, trace_id: run, dotted_order: dotted([0, run]), end_time: at(5) };
      const patches = outputs.map((each) => ({ ...shared, outputs: each }));
      // Whatever is sent again in between changes nothing.
      for (const batch of [patches, patches])
        await client.send([{ ...shared, name: 'twice', start_time: at(0) }], batch);
      const [span] = await spansOf(run);
      expect(span.output_data).to.equal(JSON.stringify(outputs[1]));
    }
  });

  it('lead from links into the console', async () => {
    const to = async (path: string) =>
      (await server.request('GET', `/langsmith/o/${path}`, { key: null })).headers.get('location');
    const { projectId } = server;
    const id = randomUUID();
    expect(await to(`${projectId}/projects/p/${id}/r/${id}?poll=true`)).to.equal(
      `/console/p/${projectId}/traces/${id}`,
    );
    expect(await to(`${projectId}/projects/p/${id}`)).to.equal(`/console/p/${projectId}/experiments/${id}`);
    expect(await to(`${projectId}/datasets/${id}/compare?selectedSessions=${id}`)).to.equal(
      `/console/p/${projectId}/datasets/${id}`,
    );
    expect(await to(`${encodeURIComponent('//evil.example')}/datasets/${id}`)).to.equal('/console');
  });
});
