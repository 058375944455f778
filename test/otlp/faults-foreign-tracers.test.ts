import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { nodeFolderWith, pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { attributes, otlpSpan, request, spanId, type Values } from './requests.js';

const execute = promisify(execFile);
/** Of newer versions, the index has not all that go together. */
const OPENTELEMETRY = [
  ...['opentelemetry-sdk==1.41.1', 'opentelemetry-instrumentation==0.62b1'],
  ...['opentelemetry-instrumentation-threading==0.62b1'],
  ...['http', 'grpc'].map((protocol) => `opentelemetry-exporter-otlp-proto-${protocol}==1.41.1`),
];
const { python, install } = pythonWith({
  folder: 'spanhouse-test-tracers-python-3.17.2-0.8.2',
  packages: ['mlflow-tracing==3.17.2', 'lmnr==0.8.2', ...OPENTELEMETRY],
  check: 'import mlflow, lmnr',
});
const javascript = nodeFolderWith({
  folder: 'spanhouse-test-tracers-javascript-0.8.44',
  packages: ['@lmnr-ai/lmnr@0.8.44'],
  check: 'import "@lmnr-ai/lmnr";',
});

/** The call that each tracer sends, as plain OpenTelemetry says it. */
const PLAIN: Values = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.response.model': 'gpt-4o',
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 500,
  'gen_ai.usage.cache_read.input_tokens': 100,
  'session.id': 'chat-42',
  'user.id': 'ann',
};
const FIGURES = 'kind,model,provider,input_tokens,output_tokens,cache_read_tokens,cost,session_name,output_data';

describe('tracers of MLflow and Laminar, unchanged', function () {
  this.timeout(600_000);
  let server: TestServer;
  let expected: any;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
    const values = { ...PLAIN, 'gen_ai.output.messages': 'Here.' };
    const body = request([otlpSpan({ name: 'plain', spanId: spanId(7), attributes: attributes(values) })]);
    expect((await server.request('POST', '/v1/traces', { body })).status).to.equal(200);
    [expected] = await get(`/spans?names=plain&fields=${FIGURES}`);
    expect(expected.cost).to.equal((900 * 2.5 + 100 * 1.25 + 500 * 10) / 1e6);
  });
  after(() => server?.dispose());

  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };
  const run = (program: string, env: Readonly<Record<string, string>>) =>
    execute(python, ['-c', program], { env: { PATH: process.env['PATH'], PYTHONWARNINGS: 'ignore', ...env } });

  const MLFLOW = `
import sys, mlflow
name = sys.argv[1]
@mlflow.trace(name=name + "-root", span_type="AGENT")
def ask(question):
    mlflow.update_current_trace(tags={"plan": "pro"})
    with mlflow.start_span(name=name, span_type="CHAT_MODEL") as span:
        span.set_inputs([{"role": "user", "content": question}])
        span.set_attribute("mlflow.llm.model", "gpt-4o")
        span.set_attribute("mlflow.llm.provider", "openai")
        span.set_attribute("mlflow.chat.tokenUsage", {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500, "cache_read_input_tokens": 100})
        span.set_attribute("session.id", "chat-42")
        span.set_attribute("user.id", "ann")
        span.set_outputs("Here.")
    return "Here."
ask("Where?")
mlflow.flush_trace_async_logging()
`;

  for (const [protocol, place] of [
    ['http/protobuf', () => `${server.url}/v1/traces`],
    ['grpc', () => `http://127.0.0.1:${server.grpcPort}`],
  ] as const)
    it(`MLflow sends by ${protocol} what plain OpenTelemetry says`, async () => {
      const name = `mlflow-${protocol.slice(0, 4)}`;
      const env = {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: place(),
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: `authorization=Bearer%20${server.key},x-mlflow-experiment-id=1`,
        OTEL_EXPORTER_OTLP_INSECURE: 'true',
        // Without it, mlflow-tracing looks for files, for which it lacks packages. Nothing is sent there.
        MLFLOW_TRACKING_URI: server.url,
      };
      await run(MLFLOW.replace('sys.argv[1]', JSON.stringify(name)), env);
      const [span] = await get(`/spans?names=${name}&fields=${FIGURES}`);
      expect(span).to.deep.equal(expected);
      const [call] = await get(`/spans?names=${name}`);
      expect(call.tags).to.include({ user: 'ann' });
      const [root] = await get(`/spans?names=${name}-root`);
      expect(root).to.include({
        kind: 'agent',
        input_data: '{"question": "Where?"}',
        output_data: 'Here.',
        cost: null,
      });
      const [trace] = await get(`/traces?id=${root.trace_id}&plan=pro`);
      expect(trace).to.include({ span_count: 2, cost: expected.cost });
    });

  for (const isHttp of [true, false])
    it(`Laminar sends by ${isHttp ? 'HTTP' : 'gRPC'} what plain OpenTelemetry says`, async () => {
      const name = `laminar-${isHttp ? 'http' : 'grpc'}`;
      await run(
        `
from lmnr import Laminar, observe
Laminar.initialize(base_url="http://127.0.0.1", http_port=${server.port}, grpc_port=${server.grpcPort}, force_http=${isHttp ? 'True' : 'False'}, instruments=set())
@observe(name="${name}-root", session_id="chat-42", user_id="ann", metadata={"plan": "pro"}, tags=["beta"])
def ask(question):
    with Laminar.start_as_current_span(name="${name}", span_type="LLM", input=[{"role": "user", "content": question}]):
        Laminar.set_span_attributes({"gen_ai.system": "openai", "gen_ai.response.model": "gpt-4o", "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 500, "gen_ai.usage.cache_read_input_tokens": 100})
        Laminar.set_span_output("Here.")
    return "Here."
ask("Where?")
Laminar.shutdown()
`,
        { LMNR_PROJECT_API_KEY: server.key },
      );
      const [span] = await get(`/spans?names=${name}&fields=${FIGURES}`);
      expect(span).to.deep.equal(expected);
      const [root] = await get(`/spans?names=${name}-root`);
      expect(root).to.include({ kind: 'chain', input_data: '{"question":"Where?"}', output_data: 'Here.' });
      expect(root.tags).to.deep.include({ user: 'ann', plan: 'pro', beta: 'true' });
      const [trace] = await get(`/traces?id=${root.trace_id}&user=ann`);
      expect(trace).to.include({ span_count: 2, cost: expected.cost });
    });

  it("Laminar's tracer for JavaScript sends what plain OpenTelemetry says", async function () {
    if (!(await javascript.install())) this.skip();
    const program = `
import { Laminar, observe } from '@lmnr-ai/lmnr';
Laminar.initialize({ projectApiKey: process.env.KEY, baseUrl: 'http://127.0.0.1', httpPort: ${server.port}, grpcPort: ${server.grpcPort}, instrumentModules: {} });
await observe({ name: 'laminar-js-root', sessionId: 'chat-42', userId: 'ann', metadata: { plan: 'pro' } }, async () =>
  observe({ name: 'laminar-js', spanType: 'LLM', input: [{ role: 'user', content: 'Where?' }] }, async () => {
    Laminar.setSpanAttributes({ 'gen_ai.system': 'openai', 'gen_ai.response.model': 'gpt-4o', 'gen_ai.usage.input_tokens': 1000, 'gen_ai.usage.output_tokens': 500, 'gen_ai.usage.cache_read_input_tokens': 100 });
    return 'Here.';
  }),
);
await Laminar.shutdown();`;
    const env = { PATH: process.env['PATH'], KEY: server.key };
    await execute(process.execPath, ['--input-type=module', '-e', program], { cwd: javascript.cwd, env });
    const [span] = await get(`/spans?names=laminar-js&fields=${FIGURES}`);
    expect(span).to.deep.equal(expected);
    const [root] = await get('/spans?names=laminar-js-root');
    expect(root.tags).to.include({ user: 'ann', plan: 'pro' });
  });
});
