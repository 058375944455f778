import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { mediaIdOf } from '../../src/engine/traces/model/media-reference.js';
import { download } from '../attachments/attachment-api.js';
import { base64, png, sha } from '../attachments/images.js';
import { nodeFolderWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const PACKAGES = [
  ...['langfuse@3.39.2', 'langfuse-2@npm:langfuse@2.8.0'],
  ...['@langfuse/tracing@5.11.1', '@langfuse/otel@5.11.1', '@langfuse/client@5.11.1'],
  ...['@opentelemetry/api@1.9', '@opentelemetry/sdk-trace-node@2.0', '@opentelemetry/exporter-trace-otlp-http@0.202'],
];
/** Their OpenTelemetry is older than ours. */
const { cwd, install } = nodeFolderWith({
  folder: 'spanhouse-test-langfuse-2.8.0-3.39.2-5.11.1',
  packages: PACKAGES,
  check: 'import "langfuse"; import "langfuse-2"; import "@langfuse/otel"; import "@langfuse/client";',
});

const execute = promisify(execFile);

describe("Langfuse's clients for JavaScript, unchanged", function () {
  this.timeout(240_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer();
  });
  after(() => server?.dispose());

  /** Runs a program with the clients. @returns the JSON that it prints last */
  async function node(program: string): Promise<any> {
    const env = {
      ...{ PATH: process.env['PATH'], LANGFUSE_SECRET_KEY: server.key },
      ...{
        LANGFUSE_PUBLIC_KEY: `pk-sh-${server.projectId}`,
        LANGFUSE_BASEURL: server.url,
        LANGFUSE_BASE_URL: server.url,
      },
    };
    const { stdout, stderr } = await execute(process.execPath, ['--input-type=module', '-e', program], {
      cwd,
      env,
    });
    expect(stderr).to.not.match(/error/i);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
  }
  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };

  for (const version of ['langfuse', 'langfuse-2'])
    it(`${version} sends traces, spans, generations, events and scores`, async () => {
      const { trace, url } = await node(`
import { Langfuse } from '${version}';
const langfuse = new Langfuse();
langfuse.on('error', (error) => console.error('error', error));
const trace = langfuse.trace({ name: 'checkout', userId: 'ann', sessionId: '${version}', tags: ['shop'], input: 'Where?', metadata: { plan: 'pro' } });
const span = trace.span({ name: 'retrieve', input: { q: 'Where?' } });
const generation = span.generation({ name: 'answer', model: 'gpt-4o', input: [{ role: 'user', content: 'Where?' }], modelParameters: { temperature: 0 } });
span.event({ name: 'found', metadata: { n: 3 } });
await langfuse.flushAsync();
generation.end({ output: 'Here.', usage: { promptTokens: 1000, completionTokens: 500 } });
span.end({ output: { n: 3 } });
trace.update({ output: 'Here.' });
trace.score({ name: 'helpful', value: 1, comment: 'yes' });
generation.score({ name: 'tone', value: 'calm' });
await langfuse.shutdownAsync();
console.log(JSON.stringify({ trace: trace.id, url: trace.getTraceUrl() }));`);
      const spans = await get(`/spans?trace_id=${trace}&sort_by=name&sort_order=asc`);
      expect(spans.map(({ name }: any) => name)).to.deep.equal(['answer', 'checkout', 'found', 'retrieve']);
      const [answer, root, found, retrieve] = spans;
      expect(answer).to.include({
        kind: 'llm',
        output_data: 'Here.',
        cost: (1000 * 2.5 + 500 * 10) / 1e6,
        parent_span_id: retrieve.id,
      });
      expect(answer.ended_at).to.be.a('string');
      expect(retrieve).to.include({ output_data: '{"n":3}', input_data: '{"q":"Where?"}', parent_span_id: root.id });
      expect(found).to.include({ parent_span_id: retrieve.id, duration_ms: 0 });
      const [stored] = await get(`/traces?id=${trace}&user=ann&shop=true`);
      expect(stored).to.deep.include({
        name: 'checkout',
        span_count: 4,
        root_span_input: 'Where?',
        root_span_output: 'Here.',
      });
      const [scored] = await get(`/traces?id=${trace}&fields=scores`);
      expect(scored.scores).to.deep.equal({ helpful: 1, tone: 'calm' });
      expect((await get(`/sessions?names=${version}`))[0]).to.include({ trace_count: 1 });
      expect(url).to.equal(`${server.url}/trace/${trace}`);
      expect((await server.request('GET', new URL(url).pathname, { key: null })).status).to.equal(302);
    });

  for (const [client, program] of [
    [
      'langfuse 3',
      (input: string) => `
import { Langfuse } from 'langfuse';
const langfuse = new Langfuse();
langfuse.on('error', (error) => console.error('error', error));
// The client loads this itself, and is not ready to send images before.
await import('crypto');
await new Promise(setImmediate);
const trace = langfuse.trace({ name: 'shot', input: ${input} });
await langfuse.shutdownAsync();
const read = async (id) => (await langfuse.fetchMedia(id));
const id = trace.id;`,
    ],
    [
      '@langfuse/tracing 5',
      (input: string) => `
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { startActiveObservation, getActiveTraceId } from '@langfuse/tracing';
import { LangfuseClient } from '@langfuse/client';
const processor = new LangfuseSpanProcessor();
new NodeTracerProvider({ spanProcessors: [processor] }).register();
const id = await startActiveObservation('shot', async (span) => {
  span.update({ input: ${input} });
  return getActiveTraceId();
});
await processor.forceFlush();
const client = new LangfuseClient();
const read = (media) => client.api.media.get(media);`,
    ],
  ] as const)
    it(`${client} sends images in an input, and reads them back`, async () => {
      const image = png(20);
      const input = `[{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,${base64(image)}' } }] }]`;
      const { id, type } = await node(`${program(input)}
const { contentType: type } = await read('${mediaIdOf(sha(image))}');
console.log(JSON.stringify({ id, type }));`);
      expect(type).to.equal('image/png');
      const [span] = await get(`/spans?trace_id=${id}`);
      expect(span.input_data).to.include('@@@langfuseMedia:type=image/png').and.not.include(base64(image));
      const { attachments } = await get(`/spans/${span.id}/attachments`);
      expect(await Promise.all(attachments.map(({ url }: any) => download(url).then(sha)))).to.deep.equal([sha(image)]);
    });

  it('@langfuse/tracing 5 sends the same over OpenTelemetry, and @langfuse/client scores it', async () => {
    const { trace, url } = await node(`
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { startActiveObservation, getActiveTraceId } from '@langfuse/tracing';
import { LangfuseClient } from '@langfuse/client';
const provider = new NodeTracerProvider({ spanProcessors: [new LangfuseSpanProcessor()] });
provider.register();
const trace = await startActiveObservation('checkout', async (span) => {
  span.update({ input: 'Where?' });
  const generation = span.startObservation('answer', { model: 'gpt-4o', input: 'Where?' }, { asType: 'generation' });
  generation.update({ output: 'Here.', usageDetails: { input: 1000, output: 500 } }).end();
  span.update({ output: 'Here.' });
  return getActiveTraceId();
});
const client = new LangfuseClient();
client.score.create({ traceId: trace, name: 'helpful', value: 1 });
await client.flush();
await provider.shutdown();
console.log(JSON.stringify({ trace, url: await client.getTraceUrl(trace) }));`);
    const spans = await get(`/spans?trace_id=${trace}&sort_by=name&sort_order=asc`);
    expect(spans.map(({ name }: any) => name)).to.deep.equal(['answer', 'checkout']);
    expect(spans[0]).to.include({ kind: 'llm', cost: (1000 * 2.5 + 500 * 10) / 1e6, output_data: 'Here.' });
    const [stored] = await get(`/traces?id=${trace}&fields=scores,root_span_input`);
    expect(stored).to.deep.include({ scores: { helpful: 1 }, root_span_input: 'Where?' });
    expect(url).to.equal(`${server.url}/project/${server.projectId}/traces/${trace}`);
    expect((await server.request('GET', new URL(url).pathname, { key: null })).headers.get('location')).to.match(
      /\/traces\/[0-9a-f-]{36}$/,
    );
  });

  it('@langfuse/client 5 runs an experiment on a dataset, whose results are the spans of its items', async () => {
    const { url, items } = await node(`
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { startActiveObservation } from '@langfuse/tracing';
import { LangfuseClient } from '@langfuse/client';
const provider = new NodeTracerProvider({ spanProcessors: [new LangfuseSpanProcessor()] });
provider.register();
const client = new LangfuseClient();
await client.api.datasets.create({ name: 'js/capitals' });
await client.dataset.createItem({ datasetName: 'js/capitals', id: 'js-de', input: 'Germany', expectedOutput: 'Berlin' });
await client.dataset.createItem({ datasetName: 'js/capitals', id: 'js-fr', input: 'France', expectedOutput: 'Paris' });
const dataset = await client.dataset.get('js/capitals');
const result = await dataset.runExperiment({
  name: 'capitals', runName: 'js run', description: 'Asked',
  task: async () => startActiveObservation('step', async (span) => { span.update({ output: 'a step' }); return 'Berlin'; }),
  evaluators: [async ({ output, expectedOutput }) => ({ name: 'correct', value: output === expectedOutput ? 1 : 0 })],
  runEvaluators: [async () => ({ name: 'mean', value: 0.5 })],
});
await client.flush();
await provider.shutdown();
console.log(JSON.stringify({ url: result.datasetRunUrl, items: dataset.items.length }));`);
    expect(items).to.equal(2);
    const path = `/projects/${server.projectId}/experiments`;
    const [experiment] = (await get(`${path}?name=js%20run`)).experiments;
    expect(url).to.match(new RegExp(`/project/${server.projectId}/datasets/[0-9a-f-]{36}/runs/${experiment.id}$`));
    const { results } = await get(`${path}/${experiment.id}/results`);
    expect(results.map(({ row_id, output_data, scores }: any) => [row_id, output_data, scores])).to.deep.equal([
      ['js-de', 'Berlin', { correct: 1 }],
      ['js-fr', 'Berlin', { correct: 0 }],
    ]);
  });
});
