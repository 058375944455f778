import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parse } from 'yaml';
import { SNIPPETS } from '../../src/http/manual/snippets.js';
import { mappingTables } from '../../src/otlp/genai/documentation.js';
import { METADATA } from '../../src/otlp/genai/context-fields.js';
import { KIND_RULES } from '../../src/otlp/genai/kind.js';
import { MAPPING } from '../../src/otlp/genai/mapping.js';
import type { FieldRule } from '../../src/otlp/genai/source.js';
import { feedbackApi } from '../feedback/feedback-api.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { ANSWER, startOpenAiStandIn, type OpenAiStandIn } from '../otlp/openai-stand-in.js';
import { otlpSpan, request, toProtobuf, TRACE_UUID } from '../otlp/requests.js';
import { shown } from '../review/linked-prompt.js';
import { blocks, chapter } from './commands.js';
import { OPENTELEMETRY_VARIABLES } from './opentelemetry-variables.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const written = chapter('opentelemetry');
const [variables = ''] = blocks(written);
const [ownSpans = '', instrumented = '', aiSdk = ''] = blocks(written, 'js');
const [python = ''] = blocks(written, 'python');
const [collector = ''] = blocks(written, 'yaml');

const execute = promisify(execFile);

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly cost: number | null;
  readonly output_data: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly session_name?: string;
}

describe('manual: OpenTelemetry', function () {
  this.timeout(120_000);
  let booted: TestServer;
  /** The same with a project of one test. */
  let server: TestServer;
  let openai: OpenAiStandIn;
  before(async () => {
    openai = await startOpenAiStandIn();
    booted = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
  });
  after(async () => {
    await booted.dispose();
    await openai.stop();
  });
  beforeEach(async () => {
    const { projectId, key } = makeProject(booted.dataDir);
    const request: TestServer['request'] = (method, path, more = {}) => booted.request(method, path, { key, ...more });
    server = { ...booted, projectId, key, request };
    await feedbackApi(server).ensure('support');
  });

  /** Runs a program as it is written, with the variables as they are written, but for the port. @returns what it prints */
  async function run(command: string, more = ''): Promise<string> {
    const env = variables.replaceAll('http://127.0.0.1:4318', server.url);
    const { stdout, stderr } = await execute('bash', ['-c', `set -e\n${env}\n${more}\nexec ${command}`], {
      cwd: ROOT,
      env: { ...process.env, SPANHOUSE_KEY: server.key, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: openai.url },
    });
    expect(stderr).to.equal('');
    return stdout;
  }

  const javascript = (program: string, more = '') =>
    run(`'${process.execPath}' --input-type=module -e '${program.replaceAll("'", `'\\''`)}'`, more);

  async function list(path: string): Promise<Listed[]> {
    const { status, json } = await server.request('GET', path);
    expect(status).to.equal(200);
    return json as Listed[];
  }

  /** What somebody who follows a new link to the prompt is shown first. */
  async function newestCompletion(): Promise<string | undefined> {
    const { json } = await feedbackApi(server).link({ prompt_slug: 'support', link_type: 'prompt_completion' });
    return shown(await send((json as { url: string }).url, 'GET', { key: null }));
  }

  async function expectOwnSpan(tags: Record<string, string>): Promise<void> {
    const [span, ...others] = await list('/spans?user=ann');
    expect(others).to.deep.equal([]);
    expect(span).to.include({ name: 'answer question', kind: 'llm', session_name: 'chat-42' });
    expect(span!.cost).to.be.closeTo((12 * 0.15 + 9 * 0.6) / 1e6, 1e-12);
    expect(span!.attributes).to.include({ provider: 'openai', model: 'gpt-4o-mini', prompt_slug: 'support' });
    expect(span!.tags).to.deep.equal({ service: 'shop', user: 'ann', ...tags });
    expect(await newestCompletion()).to.equal(span!.id);
  }

  const ways = {
    'as it is written': () => '',
    'as JSON': () => 'export OTEL_EXPORTER_OTLP_PROTOCOL=http/json',
    'with gzip': () => 'export OTEL_EXPORTER_OTLP_COMPRESSION=gzip',
    'to the address of traces': () =>
      `unset OTEL_EXPORTER_OTLP_ENDPOINT; export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${server.url}/v1/traces`,
    'by gRPC': () =>
      `export OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${String(server.grpcPort)}`,
  };
  for (const [way, more] of Object.entries(ways))
    it(`spans of one's own in JavaScript, ${way}: a completion of a prompt, with session, user, tag and cost`, async () => {
      await javascript(ownSpans, more());
      await expectOwnSpan({ beta: 'true' });
    });

  it('an instrumented client in JavaScript: its call with input, output and cost', async () => {
    expect(await javascript(instrumented)).to.equal(`${ANSWER}\n`);
    const [span, ...others] = await list('/spans?service=shop');
    expect(others).to.deep.equal([]);
    expect(span).to.include({ kind: 'llm', output_data: JSON.stringify([{ role: 'assistant', content: ANSWER }]) });
    expect(span!.cost).to.be.above(0);
  });

  it('the AI SDK: a trace called by its function, of a user and a session, and a completion of its prompt', async () => {
    expect(await javascript(aiSdk)).to.equal(`${ANSWER}\n`);
    const [trace, ...others] = await list('/traces?user=ann&beta=true&plan=pro');
    expect(others).to.deep.equal([]);
    expect(trace).to.include({ name: 'answer-customer' });
    expect(trace!.cost).to.be.above(0);
    expect(await list('/sessions?user=ann')).to.have.length(1);
    const spans = await list(`/spans?trace_id=${trace!.id}`);
    const agent = spans.find(({ kind }) => kind === 'agent');
    expect(agent!.attributes).to.include({ prompt_slug: 'support', 'otel.name': 'invoke_agent gpt-4o-mini' });
    expect(spans.find(({ kind }) => kind === 'llm')!.output_data).to.contain(ANSWER);
    expect(await newestCompletion()).to.equal(agent!.id);
  });

  for (const name of ['curl', 'typescript', 'ai-sdk'])
    it(`the first program of the tab ${name}: a call with its tokens and cost`, async () => {
      const { code } = SNIPPETS.find((snippet) => snippet.name === name)!;
      const program = code({ url: server.url, key: server.key });
      if (name === 'curl') await execute('bash', ['-c', program]);
      else await javascript(program);
      const [span, ...others] = await list('/spans?span_kind=llm');
      expect(others).to.deep.equal([]);
      expect(span!.cost).to.be.above(0);
    });

  it('Python: compiles', async function () {
    if (!(await succeeds('python3', ['--version']))) skip(this, 'python3 is not installed');
    const first = SNIPPETS.find(({ name }) => name === 'python')!.code({ url: server.url, key: server.key });
    for (const program of [python, first])
      await execute('python3', ['-c', 'import sys; compile(sys.argv[1], "chapter", "exec")', program]);
  });

  it("Python: a span of one's own", async function () {
    const modules = 'import opentelemetry.sdk, opentelemetry.exporter.otlp.proto.http';
    if (!(await succeeds('python3', ['-c', modules])))
      skip(this, "python3 has no OpenTelemetry: pip install what the manual's chapter names");
    await run(`python3 -c '${python}'`);
    await expectOwnSpan({});
  });

  it('the Collector: the configuration has what it knows, and what it would send so is stored', async () => {
    const config = parse(collector) as CollectorConfig;
    const { receivers, processors, exporters, service } = config;
    expect(Object.keys(config)).to.deep.equal(['receivers', 'processors', 'exporters', 'service']);
    expect(service.pipelines).to.deep.equal({
      traces: {
        receivers: Object.keys(receivers),
        processors: Object.keys(processors),
        exporters: Object.keys(exporters),
      },
    });
    expect(receivers).to.deep.equal({ otlp: { protocols: { grpc: { endpoint: '127.0.0.1:4317' } } } });
    const { otlphttp } = exporters;
    expect(Object.keys(otlphttp)).to.have.members(['endpoint', 'compression', 'headers']);
    expect(otlphttp).to.include({ endpoint: 'http://127.0.0.1:4318', compression: 'gzip' });

    // As this exporter does it: protobuf by default, to the signal's path behind the endpoint.
    const response = await fetch(`${otlphttp.endpoint.replace('http://127.0.0.1:4318', server.url)}/v1/traces`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': otlphttp.compression,
        authorization: otlphttp.headers.authorization.replace('${env:SPANHOUSE_KEY}', server.key),
        'user-agent': 'OpenTelemetry Collector Contrib/0.150.0 (linux/amd64)',
      },
      body: gzipSync(toProtobuf(request([otlpSpan()]))),
    });
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'application/x-protobuf']);
    expect(await list(`/spans?trace_id=${TRACE_UUID}`)).to.have.length(1);
  });

  it('names every variable, and says what is answered to other signals', async () => {
    for (const name of OPENTELEMETRY_VARIABLES) expect(written).to.include(name);
    for (const signal of ['metrics', 'logs'])
      expect((await server.request('POST', `/v1/${signal}`, { body: {} })).status).to.equal(404);
  });

  it('shows the whole mapping, in tables that no cell breaks', () => {
    const tables = mappingTables();
    const rows = tables.split('\n').filter((line) => line.startsWith('|'));
    for (const row of rows) expect(row.split('|'), row).to.have.lengthOf(4);
    // Two tables with two lines of head each; two rows of metadata, and two kinds that no attribute alone makes.
    expect(rows).to.have.lengthOf(4 + Object.keys(MAPPING).length + 2 + KIND_RULES.length + 2);
    const sources = Object.values<FieldRule>(MAPPING).flatMap((rule) => rule.sources);
    for (const name of [
      ...sources.filter((source) => typeof source === 'string'),
      ...KIND_RULES.map((rule) => rule.attribute),
    ])
      expect(tables).to.include(`\`${name}\``);
    for (const source of METADATA)
      expect(tables).to.include(`\`${'within' in source ? source.within : `${source.each}.*`}\``);
  });
});

interface CollectorConfig {
  readonly receivers: object;
  readonly processors: object;
  readonly exporters: { readonly otlphttp: OtlpHttpExporter };
  readonly service: { readonly pipelines: object };
}

interface OtlpHttpExporter {
  readonly endpoint: string;
  readonly compression: string;
  readonly headers: { readonly authorization: string };
}

function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return execute(command, args).then(
    () => true,
    () => false,
  );
}

/** Ends the test; its title says why. */
function skip(test: Mocha.Context, why: string): never {
  test.test!.title += ` (skipped: ${why})`;
  test.skip();
}
