import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { traceUuid } from '../../src/engine/schema/ids.js';
import { writeParquet } from '../../src/features/datasets/files/parquet.js';
import type { TestServer } from '../harness/server.js';
import { figuresOf, importInto, importScene, projectOn } from './importing.js';

const uuid = (number: number) => `0199b1f0-0000-4000-8000-${String(number).padStart(12, '0')}`;
const hex = (number: number, length: number) => (0x1000 + number).toString(16).padStart(length, '1');
const second = (of: number) => new Date(Date.UTC(2026, 1, 1) + of * 1000).toISOString();

/** A chain with a call of a model below it, as LangSmith exports runs: texts of JSON, costs of which are decimals. */
function runs(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => {
    const [chain, call] = [uuid(2 * index + 1), uuid(2 * index + 2)];
    const metadata = { thread_id: `thread ${index % 2}`, ls_provider: 'openai', ls_model_name: 'gpt-4o' };
    const common = {
      ...{
        trace_id: chain,
        start_time: second(index * 10),
        end_time: second(index * 10 + 2),
        error: null,
        tags: '["beta"]',
      },
      ...{
        extra: JSON.stringify({ metadata }),
        session_name: 'shop',
        total_cost: '0.0125',
        prompt_tokens: 100,
        completion_tokens: 10,
      },
    };
    return [
      {
        ...common,
        id: chain,
        parent_run_id: null,
        name: 'agent',
        run_type: 'chain',
        inputs: '{"question":"Why?"}',
        outputs: '{"answer":"So."}',
        dotted_order: `x${chain}`,
      },
      {
        ...common,
        id: call,
        parent_run_id: null,
        name: 'ChatOpenAI',
        run_type: 'llm',
        inputs: '{}',
        outputs: '{"text":"So."}',
        dotted_order: `20260201T000000000000Z${chain}.20260201T000000000000Z${call}`,
      },
    ];
  }).flat();
}

/** A span as Phoenix answers it. */
const span = (index: number) => ({
  ...{
    id: `U3BhbjoK${index}`,
    name: 'call',
    span_kind: 'LLM',
    parent_id: null,
    status_code: 'ERROR',
    status_message: 'late',
  },
  ...{ context: { trace_id: hex(index, 32), span_id: hex(index, 16) }, events: [] },
  ...{ start_time: '2026-02-01T00:00:00.123456+00:00', end_time: '2026-02-01T00:00:01.123456+00:00' },
  attributes: {
    llm: {
      model_name: 'gpt-4o',
      token_count: { prompt: 100, completion: 10 },
      input_messages: [{ message: { role: 'user', content: 'Hi' } }],
    },
    metadata: { plan: 'pro' },
    session: { id: 'talk' },
  },
});

describe('an import from LangSmith and Phoenix', function () {
  this.timeout(180_000);
  const scene = importScene();

  it('takes runs in Parquet, of which calls of models alone cost, and goes on where it was cut off', async () => {
    const rows = runs(300);
    const columns = Object.keys(rows[0] ?? {});
    await scene.folder.write('e/a.parquet', await writeParquet(columns, rows.slice(0, 550)));
    await scene.folder.write('e/b.parquet', await writeParquet(columns, [...rows.slice(550), { id: 'none' }]));
    const given = { from: 'langsmith', paths: [`${scene.folder.path}/e`], state: scene.folder.state };
    expect(await importInto(scene.server, { ...given, cutAfter: 530 })).to.equal(null);
    const report = await importInto(scene.server, given);
    expect(report?.left).to.deep.equal([
      { why: 'it has no id, no trace or no start', count: 1, examples: [`${scene.folder.path}/e/b.parquet row 51`] },
    ]);
    expect(report?.compared?.map(({ figure, same }) => [figure, same])).to.deep.equal([
      ...[
        ['spans', true],
        ['input tokens', true],
        ['output tokens', true],
      ],
      ['cost in US dollars', true],
    ]);
    const { count, cost } = await figuresOf(scene.server);
    expect(count).to.equal(600);
    expect(cost).to.be.closeTo(300 * 0.0125, 1e-9);
    const { json: spans } = await scene.server.request(
      'GET',
      '/spans?span_kind=llm&sort_by=started_at&sort_order=asc&limit=1',
    );
    expect(spans[0]).to.include({
      model: 'gpt-4o',
      cost: 0.0125,
      parent_span_id: uuid(1),
      started_at: '2026-02-01T00:00:00.000000Z',
    });
    const { json: sessions } = await scene.server.request('GET', '/sessions');
    expect(sessions.map(({ name }: { name: string }) => name).sort()).to.deep.equal(['thread 0', 'thread 1']);
    const { json: traces } = await scene.server.request('GET', '/traces?limit=1');
    expect(traces[0].tags).to.include({ project: 'shop', beta: 'true', imported_from: 'langsmith' });
  });

  it('takes feedback about these runs from an API, with its times, again and cut off', async () => {
    const there = projectOn(scene.server);
    const said = [
      { id: uuid(901), run_id: uuid(2), key: 'helpful', score: 1, comment: 'It is.', feedback_source: { type: 'app' } },
      { id: uuid(902), run_id: uuid(1), key: 'tone', value: 'kind', correction: { tone: 'calm' } },
      { id: uuid(903), run_id: uuid(99), key: 'helpful', score: 0 },
    ];
    for (const body of said)
      expect((await there.request('POST', '/langsmith/feedback', { body })).status).to.equal(200);
    const rows = runs(40);
    await scene.folder.write('e/a.parquet', await writeParquet(Object.keys(rows[0] ?? {}), rows));
    const options = { sourceUrl: `${scene.server.url}/langsmith`, sourceKey: there.key };
    const given = { from: 'langsmith', paths: [`${scene.folder.path}/e`], state: scene.folder.state, options };
    expect(await importInto(scene.server, { ...given, cutAfter: 81 })).to.equal(null);
    const report = await importInto(scene.server, { ...given, restart: true });
    expect(report?.left).to.deep.equal([]);
    expect(report?.tally).to.include({ spans: 80, scores: 2 });
    const of = async ({ request }: Pick<TestServer, 'request'>) =>
      (await request('GET', '/scores?sort_by=created_at&sort_order=asc')).json.map(
        ({ id: _id, project_id: _project, ...score }: Record<string, unknown>) => score,
      );
    const scores = await of(scene.server);
    expect(scores).to.deep.equal((await of(there)).slice(0, 2));
    expect(scores[0]).to.include({ name: 'helpful', value: 1, comment: 'It is.', source: 'human', entity_id: uuid(2) });
    const refused = { ...given, options: { ...options, sourceKey: 'none' } };
    const why = await importInto(scene.server, refused).catch((error: unknown) => (error as Error).message);
    expect(why).to.equal('LangSmith rejected the key: give one with --source-key');
  });

  it('takes spans of Phoenix in Parquet as if an application had sent them', async () => {
    const rows = [1, 2].map((index) => {
      const { context, attributes, ...rest } = span(index);
      return {
        ...rest,
        ...{ 'context.trace_id': context.trace_id, 'context.span_id': context.span_id, events: null },
        ...{ 'attributes.llm.model_name': 'gpt-4o', 'attributes.llm.token_count.prompt': 100 },
        ...{ 'attributes.llm.token_count.completion': 10, 'attributes.metadata': JSON.stringify(attributes.metadata) },
      };
    });
    await scene.folder.write('e/spans.parquet', await writeParquet(Object.keys(rows[0] ?? {}), rows));
    const report = await importInto(scene.server, {
      from: 'phoenix',
      paths: [`${scene.folder.path}/e`],
      state: scene.folder.state,
    });
    expect(report?.left).to.deep.equal([]);
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(await figuresOf(scene.server)).to.include({ count: 2, input: 200, output: 20 });
  });

  describe('of a Phoenix server', () => {
    let phoenix: Server;
    before(async () => {
      phoenix = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://phoenix');
        const from = Number(searchParams.get('cursor') ?? 0);
        const body =
          pathname === '/v1/projects/shop/spans'
            ? {
                data: Array.from({ length: Math.min(100, 250 - from) }, (_, at) => span(from + at)),
                next_cursor: from + 100 < 250 ? String(from + 100) : null,
              }
            : pathname === '/v1/projects/shop/span_annotations'
              ? { data: searchParams.getAll('span_ids').map((span_id) => annotation({ span_id })), next_cursor: null }
              : pathname === '/v1/projects/shop/trace_annotations'
                ? { data: [annotation({ trace_id: searchParams.get('trace_ids') })], next_cursor: null }
                : pathname === '/v1/projects/shop/session_annotations'
                  ? { data: searchParams.getAll('session_ids').map((session_id) => annotation({ session_id })) }
                  : null;
        response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body ?? { detail: 'Not found' }));
      });
      phoenix.listen(0, '127.0.0.1');
      await once(phoenix, 'listening');
    });
    after(() => phoenix.close());

    const annotation = (about: object) => ({
      ...{ ...about, name: 'correct', annotator_kind: 'LLM', identifier: 'v1', metadata: {} },
      ...{ result: { score: 1, label: 'yes', explanation: 'It is.' }, created_at: second(5), updated_at: second(6) },
    });
    const imported = (more: object = {}) => {
      const sourceUrl = `http://127.0.0.1:${(phoenix.address() as AddressInfo).port}`;
      const options = { sourceUrl, sourceProject: 'shop' };
      return importInto(scene.server, { from: 'phoenix', options, state: scene.folder.state, ...more });
    };

    it('takes spans page by page, with their annotations as scores, again and cut off', async () => {
      expect(await imported({ cutAfter: 4 })).to.equal(null);
      const report = await imported();
      expect(report?.left).to.deep.equal([]);
      expect(report?.compared?.every(({ same }) => same)).to.equal(true);
      expect(report?.tally).to.include({ spans: 250 });
      // One of a trace of each of the three pages, and one of their session.
      expect((await imported({ restart: true }))?.tally).to.include({ spans: 250, scores: 254 });
      expect(await figuresOf(scene.server)).to.include({ count: 250, input: 25_000 });
      const { json: spans } = await scene.server.request('GET', '/spans?limit=1');
      expect(spans[0]).to.include({ status: 'error', model: 'gpt-4o', started_at: '2026-02-01T00:00:00.123456Z' });
      expect(spans[0].tags).to.include({ plan: 'pro', imported_from: 'phoenix' });
      const of = async (what: string) => (await scene.server.request('GET', `/scores?entity_type=${what}`)).json;
      expect((await of('trace')).map(({ entity_id }: any) => entity_id)).to.include(traceUuid(hex(0, 32)));
      const [[session], [{ id }]] = [await of('session'), (await scene.server.request('GET', '/sessions')).json];
      expect(session).to.include({ entity_id: id, value: 1 });
      const { json: scores } = await scene.server.request('GET', '/scores?entity_type=span&limit=1&count=true');
      expect(scores[0]).to.deep.include({ value: 1, comment: 'It is.', source: 'judge', metadata: { label: 'yes' } });
      expect(scores[0].created_at).to.equal('2026-02-01T00:00:06.000000Z');
    });
  });
});
