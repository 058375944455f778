import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { nodeFolderWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);
const { cwd, install } = nodeFolderWith({
  folder: 'spanhouse-test-langsmith-0.12.0-1.7.3',
  packages: ['langsmith@0.12.0', '@langchain/core@1.4.0', '@langchain/langgraph@1.7.3'],
  check: 'import "langsmith"; import "@langchain/core/messages"; import "@langchain/langgraph";',
});

describe("LangSmith's client for JavaScript, unchanged", function () {
  this.timeout(240_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer();
  });
  after(() => server?.dispose());

  /** Runs a program with the client. @returns the JSON that it prints last */
  async function node(program: string): Promise<any> {
    const env = {
      ...{ PATH: process.env['PATH'], LANGSMITH_TRACING: 'true', LANGSMITH_PROJECT: 'shop' },
      ...{ LANGSMITH_ENDPOINT: `${server.url}/langsmith`, LANGSMITH_API_KEY: server.key },
    };
    const { stdout, stderr } = await execute(process.execPath, ['--input-type=module', '-e', program], {
      ...{ cwd, env },
    });
    expect(stderr.replace(/^.*(Deprecat|deprecat|--trace-).*$/gm, '')).to.not.match(/error|failed/i);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
  }
  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };

  it('traces functions, scores them, and reads them back', async () => {
    const { id, read, listed, feedback } = await node(`
import { Client } from 'langsmith';
import { traceable, getCurrentRunTree } from 'langsmith/traceable';
const client = new Client();
let id;
const answer = traceable(async (messages) => ({
  role: 'assistant', content: 'Here.', usage_metadata: { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 },
}), { name: 'answer', run_type: 'llm', client, metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4o' } });
const checkout = traceable(async (q) => { id = getCurrentRunTree().id; return answer([{ role: 'user', content: q }]); },
  { name: 'checkout', client, tags: ['beta'], metadata: { session_id: 'thread-1' } });
const failing = traceable(async () => { throw new TypeError('no shop'); }, { name: 'failing', client });
await checkout('Where?');
await failing().catch(() => undefined);
await client.awaitPendingTraceBatches();
const score = await client.createFeedback(id, 'helpful', { score: 1, comment: 'yes' });
await client.updateFeedback(score.id, { score: 0 });
const feedback = [];
for await (const each of client.listFeedback({ runIds: [id] })) feedback.push(each);
const listed = [];
for await (const run of client.listRuns({ projectName: 'shop' })) listed.push(run.name);
const run = await client.readRun(id, { loadChildRuns: true });
console.log(JSON.stringify({ id, read: run, listed, feedback }));`);
    const spans = await get(`/spans?trace_id=${id}&sort_by=started_at&sort_order=asc`);
    expect(spans.map(({ name, kind, status }: any) => [name, kind, status])).to.deep.equal([
      ['checkout', 'chain', 'ok'],
      ['answer', 'llm', 'ok'],
    ]);
    expect(spans[1]).to.include({ model: 'gpt-4o', cost: (1000 * 2.5 + 500 * 10) / 1e6, session_name: 'thread-1' });
    const [trace] = await get(`/traces?id=${id}&project=shop&beta=true&fields=scores,cost`);
    expect(trace).to.deep.equal({ scores: { helpful: 0 }, cost: spans[1].cost });
    expect(read.child_runs.map(({ name }: any) => name)).to.deep.equal(['answer']);
    expect(listed).to.have.members(['checkout', 'answer', 'failing']);
    expect(feedback).to.have.length(1);
    const [failed] = await get('/spans?names=failing');
    expect(failed).to.include({ status: 'error', error_code: 'TypeError' });
  });

  it('traces chains of LangChain', async () => {
    await node(`
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { awaitAllCallbacks } from '@langchain/core/callbacks/promises';
const chain = ChatPromptTemplate.fromTemplate('Where is {what}?')
  .pipe(new FakeListChatModel({ responses: ['Here.'] })).pipe(new StringOutputParser());
let text = '';
for await (const token of await chain.stream({ what: 'the shop' }, { metadata: { thread_id: 'thread-2' } })) text += token;
await awaitAllCallbacks();
console.log(JSON.stringify(text));`);
    const [trace] = await get('/traces?names=RunnableSequence');
    const spans = await get(`/spans?trace_id=${trace.id}&sort_by=started_at&sort_order=asc`);
    expect(spans.map(({ kind }: any) => kind)).to.deep.equal(['chain', 'prompt', 'llm', 'parser']);
    expect(spans.every(({ ended_at }: any) => ended_at !== null)).to.equal(true);
    expect(spans[2].input_data).to.include('Where is the shop?');
    expect(trace.status).to.equal('ok');
  });

  it('traces graphs of LangGraph', async () => {
    await node(`
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { awaitAllCallbacks } from '@langchain/core/callbacks/promises';
import { Annotation, StateGraph, START, END } from '@langchain/langgraph';
const model = new FakeListChatModel({ responses: ['Here.'] });
const State = Annotation.Root({ what: Annotation(), answer: Annotation() });
const graph = new StateGraph(State)
  .addNode('ask', async ({ what }) => ({ answer: (await model.invoke('Where is ' + what + '?')).content }))
  .addEdge(START, 'ask').addEdge('ask', END).compile();
const { answer } = await graph.invoke({ what: 'the shop' }, { metadata: { thread_id: 'thread-3' } });
await awaitAllCallbacks();
console.log(JSON.stringify(answer));`);
    const [trace] = await get('/traces?names=LangGraph');
    const spans = await get(`/spans?trace_id=${trace.id}&sort_by=started_at&sort_order=asc`);
    const names = spans.map(({ name, kind }: any) => [name, kind]);
    expect(names).to.deep.include(['ask', 'chain']).and.deep.include(['FakeListChatModel', 'llm']);
    expect(spans.every(({ ended_at, status }: any) => ended_at !== null && status === 'ok')).to.equal(true);
    const llm = spans.find(({ kind }: any) => kind === 'llm');
    expect(llm).to.include({ session_name: 'thread-3' });
    expect(llm.output_data).to.include('Here.');
  });

  it('evaluates', async () => {
    const { results, url } = await node(`
import { Client } from 'langsmith';
import { evaluate } from 'langsmith/evaluation';
const client = new Client({ webUrl: process.env.LANGSMITH_ENDPOINT });
const dataset = await client.createDataset('questions', { description: 'Some' });
await client.createExamples([
  { dataset_id: dataset.id, inputs: { q: 'a' }, outputs: { a: 'A' } },
  { dataset_id: dataset.id, inputs: { q: 'b' }, outputs: { a: 'X' } },
]);
const found = await evaluate(({ q }) => ({ a: q.toUpperCase() }), {
  data: 'questions', client, experimentPrefix: 'upper',
  evaluators: [({ outputs, referenceOutputs }) => ({ key: 'right', score: outputs.a === referenceOutputs.a ? 1 : 0 })],
  summaryEvaluators: [({ outputs }) => ({ key: 'overall', score: outputs.length })],
});
const project = await client.readProject({ projectName: found.experimentName });
console.log(JSON.stringify({ results: found.results.length, url: await client.getDatasetUrl({ datasetId: dataset.id }), id: project.id }));`);
    expect(results).to.equal(2);
    const path = `/projects/${server.projectId}/experiments`;
    const { experiments } = await get(path);
    expect(experiments).to.have.length(1);
    expect(experiments[0]).to.include({ status: 'finished' });
    expect(experiments[0].figures).to.include({ results: 2, rows: 2, errors: 0 });
    expect(experiments[0].figures.scores).to.deep.include({ name: 'right', kind: 'numeric', count: 2, mean: 0.5 });
    const { results: rows } = await get(`${path}/${experiments[0].id}/results?rows=true`);
    expect(rows.map(({ output_data }: any) => output_data)).to.have.members(['{"a":"A"}', '{"a":"B"}']);
    expect((await server.request('GET', new URL(url).pathname, { key: null })).status).to.equal(302);
  });
});
