import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);

/** LiteLLM with the client that its callback wants: older ones send events, today's sends spans of OpenTelemetry. */
const VERSIONS = [
  ['1.80.17', '2.60.10', ['langfuse']],
  ['1.110.2', '4.14.0', ['langfuse', 'langfuse_otel']],
] as const;

/** The callback needs no model: LiteLLM answers itself. */
const program = (callback: string) => `
import litellm
litellm.success_callback = litellm.failure_callback = ["${callback}"]
def ask(model, **more):
    named = {"trace_name": "checkout", "session_id": "${callback}", "trace_user_id": "ann", "tags": ["beta"]}
    messages = [{"role": "user", "content": "Where?"}]
    return litellm.completion(model=model, messages=messages, metadata={**named, "generation_name": "answer"}, **more)
ask("gpt-4o", mock_response="Here.")
try:
    ask("gpt-4o-mini", mock_response=Exception("no answer"), num_retries=0)
except Exception:
    pass
`;

for (const [version, client, callbacks] of VERSIONS)
  describe(`LiteLLM ${version} with the client ${client} of Langfuse, unchanged`, function () {
    this.timeout(600_000);
    let server: TestServer;
    const { python, install } = pythonWith({
      folder: `spanhouse-test-litellm-${version}-${client}`,
      packages: [`litellm==${version}`, `langfuse==${client}`],
      check: 'import litellm, langfuse',
    });
    before(async function () {
      await requireInstalled(this, install());
      server = await bootServer();
    });
    after(() => server?.dispose());

    for (const callback of callbacks)
      it(`sends calls with their answers, tokens and costs, and those that failed, by ${callback}`, async () => {
        const env = {
          ...{ PATH: process.env['PATH'], LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
          ...{ LANGFUSE_HOST: server.url, LANGFUSE_OTEL_HOST: server.url },
          ...{ LANGFUSE_PUBLIC_KEY: `pk-sh-${server.projectId}`, LANGFUSE_SECRET_KEY: server.key },
        };
        const { stderr } = await execute(python, ['-c', program(callback)], { env });
        const get = async (path: string): Promise<any[]> => (await server.request('GET', path)).json;
        const [session] = await get(`/sessions?names=${callback}`);
        const traces = await get(`/traces?session_id=${session?.id}&names=checkout&beta=true&user=ann`);
        const ids = traces.map(({ id }) => id);
        const calls = (await get('/spans?span_kind=llm&sort_by=started_at&sort_order=asc')).filter(({ trace_id }) =>
          ids.includes(trace_id),
        );
        expect(calls, stderr).to.have.length(2);
        const [answered, failed] = calls;
        expect(answered).to.include({ model: 'gpt-4o', input_tokens: 10, output_tokens: 20, cost: 0.000225 });
        expect([answered.has_error, failed.has_error, failed.model]).to.deep.equal([false, true, 'gpt-4o-mini']);
        expect(answered.input_data).to.include('Where?');
        expect(answered.output_data).to.include('Here.');
        expect(failed.error_message).to.include('no answer');
      });
  });
